import { Check } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { ImportStep } from "./wizard";

const STEPS = ["file", "columns", "check", "done"] as const;

/** The four steps and the current one. */
export function StepIndicator({ step }: { step: ImportStep }) {
  const { t } = useTranslation();
  const here = STEPS.indexOf(step);
  return (
    <ol aria-label={t("import.steps")} className="flex flex-wrap gap-x-5 gap-y-1">
      {STEPS.map((one, index) => (
        <li
          key={one}
          {...(index === here ? { "aria-current": "step" } : {})}
          className={`flex items-center gap-2 ${index === here ? "font-semibold" : "text-soft"}`}
        >
          <span
            aria-hidden="true"
            className={`inline-flex size-7 items-center justify-center rounded-full border text-sm ${index === here ? "bg-accent text-on-accent border-accent" : "border-line"}`}
          >
            {index < here ? <Check className="size-4" /> : index + 1}
          </span>
          {t(`import.step.${one}`)}
          {index < here ? <span className="sr-only">{t("import.stepDone")}</span> : null}
        </li>
      ))}
    </ol>
  );
}
