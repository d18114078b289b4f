import type { ReactNode } from "react";

import { Card } from "./Card";

/** A section of a settings page: title, description, controls. */
export function SettingsSection({ title, text, children }: { title: string; text?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Card className="flex flex-col gap-4 sm:p-5">
        <div>
          <h2>{title}</h2>
          {text === undefined ? null : <p className="text-soft text-sm">{text}</p>}
        </div>
        {children}
      </Card>
    </section>
  );
}
