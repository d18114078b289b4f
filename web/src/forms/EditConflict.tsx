import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Card } from "../components/Card";

export interface ConflictingField {
  /** Label of the field. */
  field: string;
  /** Current value of the service; empty for none. */
  current: string;
  /** Whether the user typed a different value. */
  isTyped: boolean;
}

/** Lists fields that were changed elsewhere while the user was editing, with actions to continue. */
export function EditConflict({ changes, children }: { changes: readonly ConflictingField[]; children?: ReactNode }) {
  const { t } = useTranslation();
  const text = (now: string) =>
    now.trim() === ""
      ? t("meanwhile.empty")
      : t("meanwhile.quoted", { now: now.length > 120 ? `${now.slice(0, 120)}…` : now });
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
