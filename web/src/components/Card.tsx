import type { ReactNode } from "react";

/** A surface for one unit of content. */
export function Card({ children, className = "" }: { children: ReactNode; className?: string }) {
  return <div className={`bg-sheet border-faint rounded-xl border p-4 shadow-xs sm:p-5 ${className}`}>{children}</div>;
}
