import type { ReactNode } from "react";

/** What stands in a row beside a button, at the height of its words. */
export function RowText({ children }: { children: ReactNode }) {
  return <span className="flex min-h-11 items-center">{children}</span>;
}
