import type { ReactNode } from "react";

/** Empty state: one sentence, and the action that changes it. */
export function EmptyState({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="border-line flex flex-col items-start gap-3 rounded-xl border border-dashed p-4">
      <p>{children}</p>
      {action}
    </div>
  );
}
