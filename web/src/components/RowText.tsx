import type { ReactNode } from "react";

/** Text in a row with a button, aligned with the text of the button. */
export function RowText({ children }: { children: ReactNode }) {
  return <span className="flex min-h-11 items-center">{children}</span>;
}
