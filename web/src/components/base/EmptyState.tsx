import type { ReactNode } from "react";

interface Props {
  /** What is so. */
  children: ReactNode;
  /** What comes next. */
  hint?: ReactNode;
  action?: ReactNode;
}

/** Empty state: one sentence, what comes next, and the action that changes it. */
export function EmptyState({ children, hint, action }: Props) {
  return (
    <div className="bg-sheet border-faint flex flex-col items-center gap-4 rounded-xl border px-4 py-8 text-center shadow-xs">
      <Drawing />
      <div className="max-w-md">
        <div className="font-semibold">{children}</div>
        {hint === undefined ? null : <p className="text-soft mt-1">{hint}</p>}
      </div>
      {action === undefined ? null : <div className="flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** Two sheets, and dots in the colours of people. */
function Drawing() {
  return (
    <svg viewBox="0 0 112 100" aria-hidden="true" className="w-24" fill="none" strokeWidth="2">
      <g className="stroke-faint fill-sheet">
        <rect x="8" y="14" width="56" height="70" rx="6" transform="rotate(-6 36 49)" />
        <rect x="44" y="6" width="60" height="76" rx="6" transform="rotate(6 74 44)" />
        <path d="M58 34h36M57 46h40M55 58h26" strokeWidth="5" strokeLinecap="round" />
      </g>
      {[0, 1, 4, 3].map((color, index) => (
        <circle key={color} cx={20 + index * 24} cy="84" r="11" className={`person-${color} fill-(--person-fill)`} />
      ))}
    </svg>
  );
}
