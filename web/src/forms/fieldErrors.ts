// Field errors of the service. Separate from other errors because the sign-in pages do not load this code.
import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { translateIfKnown } from "../i18n";

/** The most common field messages of the service, for languages it does not provide. */
const TRANSLATED_MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^(is required|must not be (empty|null)|is empty)/, "required"],
  [/e-mail address$/, "email"],
  [/^is the address you have/, "sameAddress"],
  [/^is not your password/, "password"],
  [/^must be between (?<from>\S+) and (?<to>\S+)$/, "between"],
  [/^must be at most (?<to>\d+) char/, "short"],
  [/^must be at least (?<from>\d+) char/, "long"],
  [/^must be 2 to 63 of/, "slug"],
  [/^must be a host/, "host"],
  [/^must be a domain such as/, "mailDomain"],
  [/^is a public mail host/, "publicMailHost"],
  [/^is a public suffix/, "publicSuffix"],
  [/^must not be after the deadline|^must not be before publishAt/, "afterDeadline"],
  [/^must not be before|^must be after/, "order"],
  [/taken|is there twice|another .* of this/, "taken"],
];

/** Text of a field message in the reader's language where translated. */
export function fieldMessageText(message: string): string {
  for (const [pattern, key] of TRANSLATED_MESSAGES) {
    const found = pattern.exec(message);
    if (found) return translateIfKnown(`fields.${key}`, found.groups) ?? message;
  }
  return message;
}

/** Message of the service for a field, untranslated. */
const messageAt = (problem: unknown, path: string): string | undefined =>
  problem instanceof Problem ? problem.details.find((detail) => detail.path === path)?.message : undefined;

/** Error text of a form field, by its path in the request body. */
export function fieldError(problem: unknown, path: string): string | undefined {
  const message = messageAt(problem, path);
  return message === undefined ? undefined : fieldMessageText(message);
}

/** Field messages of the service with their translations. */
const MESSAGE_PATHS = [
  [/^is required/, "required"],
  [/^must be at most (\d+) /, "most"],
  [/^must be at least (\d+) /, "least"],
  [/^must be an e-mail address/, "email"],
  [/^is too short: choose at least (\d+)/, "least"],
  [/^is too long: choose at most (\d+)/, "most"],
  [/^is one of those that everybody tries/, "common"],
  [/^is only your own name/, "own"],
  [/control characters/, "control"],
] as const;

/** Returns the error props of form fields, to be spread into them; in the reader's language where translated. */
export function useFieldErrors(problem: unknown): (path: string) => { problem?: string } {
  const { t } = useTranslation();
  return (path) => {
    const message = messageAt(problem, path);
    if (message === undefined || !(problem instanceof Problem)) return {};
    const refusal = translateIfKnown(`refused.${problem.code}`);
    if (refusal !== undefined) return { problem: refusal };
    for (const [pattern, key] of MESSAGE_PATHS) {
      const found = pattern.exec(message);
      if (found) return { problem: t(`refused.field.${key}`, { count: Number(found[1] ?? 0) }) };
    }
    return { problem: fieldMessageText(message) };
  };
}

/** Whether an error is shown at form fields; otherwise it has to be shown separately. */
export const isFieldError = (problem: unknown, paths: readonly string[]): boolean =>
  problem instanceof Problem &&
  problem.details.length > 0 &&
  problem.details.every((detail) => paths.includes(detail.path));
