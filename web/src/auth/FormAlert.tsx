import { useEffect, useRef } from "react";

import { useErrorText } from "../i18n/useErrorText";

/** Shows an error above a form and takes the focus, so that it is read out and Tab continues into the form. */
export function FormAlert({ problem }: { problem: unknown }) {
  const errorText = useErrorText();
  const place = useRef<HTMLParagraphElement>(null);
  const shown = useRef<unknown>(undefined);
  useEffect(() => {
    if (shown.current !== problem) place.current?.focus();
    shown.current = problem;
  }, [problem]);
  return (
    <p ref={place} role="alert" tabIndex={-1} className="text-bad font-medium">
      {errorText(problem)}
    </p>
  );
}
