// Error texts, except those of form fields.
import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { translateIfKnown } from ".";

export { fieldError, isFieldError, useFieldErrors } from "../forms/fieldErrors";

/** Returns a function that renders an error in the reader's language where translated, else in the service's text. */
export function useErrorText(): (problem: unknown) => string {
  const { t } = useTranslation();
  return (problem) => {
    if (!(problem instanceof Problem)) return t("problem.UNKNOWN");
    const known =
      translateIfKnown(`problem.${problem.code}`) ??
      translateIfKnown(`refused.${problem.code}`, { detail: problem.details[0]?.code });
    if (known !== undefined) return known;
    return problem.details[0] ? `${problem.details[0].path}: ${problem.details[0].message}` : problem.message;
  };
}
