import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { FieldConflict } from "../api/versions";
import { Card } from "../components/Card";

interface Props<Values> {
  /** The fields that differ; undefined without a conflict. */
  differences: readonly FieldConflict<Values>[] | undefined;
  label: (field: keyof Values) => string;
  /** Current value of the service; empty for none. */
  current: (field: keyof Values) => string;
  children?: ReactNode;
}

/** Lists fields that were changed elsewhere while the user was editing, with actions to continue. */
export function EditConflict<Values>({ differences, label, current, children }: Props<Values>) {
  const { t } = useTranslation();
  if (differences === undefined) return null;
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
          {differences.length === 0 ? <li>{t("meanwhile.none")}</li> : null}
          {differences.map(({ field, isTyped }) => (
            <li key={field}>
              {t(isTyped ? "meanwhile.typed" : "meanwhile.taken", { field: label(field), now: text(current(field)) })}
            </li>
          ))}
        </ul>
      </div>
      {children}
    </Card>
  );
}
