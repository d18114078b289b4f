// What the service refuses, beside the field it is about.
import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";

export { fieldError, isFieldError, useFieldErrors } from "../forms/fieldErrors";

/** A problem in the reader's words where we have them, else in the service's. */
export function useErrorText(): (problem: unknown) => string {
  const { t, i18n } = useTranslation();
  return (problem) => {
    if (!(problem instanceof Problem)) return t("problem.UNKNOWN");
    if (i18n.exists(`problem.${problem.code}`)) return t(`problem.${problem.code}`);
    if (i18n.exists(`refused.${problem.code}`)) return t(`refused.${problem.code}`);
    return problem.details[0] ? `${problem.details[0].path}: ${problem.details[0].message}` : problem.message;
  };
}
