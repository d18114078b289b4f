import type { ReactNode } from "react";

type Tone = "plain" | "good" | "warn" | "bad";

const TONES: Record<Tone, string> = {
  plain: "bg-sunk text-soft",
  good: "bg-submitted-soft text-submitted",
  warn: "bg-late-soft text-late",
  bad: "bg-missing-soft text-missing",
};

/** A short status label; the colour only supports the text. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex min-h-6 items-center gap-1 rounded-full border border-transparent px-2 text-note font-medium ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}
