import type { ReactNode } from "react";

/** Nothing is here: one sentence, and the one thing that changes it. */
export function EmptyState({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="border-line flex flex-col items-start gap-3 rounded-xl border border-dashed p-4">
      <p>{children}</p>
      {action}
    </div>
  );
}
