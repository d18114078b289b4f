import type { ReactNode } from "react";

import { Lock } from "./icons";

/** Banner above a locked screen: reason, time, remaining functions, action. */
export function LockBanner({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="border-warn bg-sheet flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border px-4 py-2">
      <p className="flex items-center gap-2">
        <Lock aria-hidden="true" className="text-warn size-5 shrink-0" />
        <span>{children}</span>
      </p>
      {action}
    </div>
  );
}
