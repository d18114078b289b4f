// Error texts, except those of form fields.
import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";

export { fieldError, isFieldError, useFieldErrors } from "../forms/fieldErrors";

/** Returns a function that renders an error in the reader's language where translated, else in the service's text. */
export function useErrorText(): (problem: unknown) => string {
  const { t, i18n } = useTranslation();
  return (problem) => {
    if (!(problem instanceof Problem)) return t("problem.UNKNOWN");
    if (i18n.exists(`problem.${problem.code}`)) return t(`problem.${problem.code}`);
    if (i18n.exists(`refused.${problem.code}`))
      return t(`refused.${problem.code}`, { detail: problem.details[0]?.code });
    return problem.details[0] ? `${problem.details[0].path}: ${problem.details[0].message}` : problem.message;
  };
}
