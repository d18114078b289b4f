import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Card } from "../components/Card";

export interface ConflictingField {
  /** The label of the field. */
  field: string;
  /** What stands there now; empty for nothing. */
  current: string;
  /** Whether the reader typed something else there. */
  isTyped: boolean;
}

/** What was changed elsewhere while the reader was typing, and how to go on. */
export function EditConflict({ changes, children }: { changes: readonly ConflictingField[]; children?: ReactNode }) {
  const { t } = useTranslation();
  const text = (now: string) => (now.trim() === "" ? t("meanwhile.empty") : t("meanwhile.quoted", { now: now.length > 120 ? `${now.slice(0, 120)}…` : now }));
  return (
    <Card className="border-bad flex flex-col items-start gap-3">
      <div role="alert">
        <h2>{t("meanwhile.title")}</h2>
        <p>{t("meanwhile.text")}</p>
        <ul className="mt-2 list-disc pl-5">
          {changes.length === 0 ? <li>{t("meanwhile.none")}</li> : null}
          {changes.map(({ field, current, isTyped }) => (
            <li key={field}>{t(isTyped ? "meanwhile.typed" : "meanwhile.taken", { field, now: text(current) })}</li>
          ))}
        </ul>
      </div>
      {children}
    </Card>
  );
}
