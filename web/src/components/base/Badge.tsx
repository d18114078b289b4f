import type { ReactNode } from "react";

type Tone = "plain" | "good" | "warn" | "bad";

const TONES: Record<Tone, string> = {
  plain: "border-line text-ink",
  good: "border-good text-good",
  warn: "border-warn text-warn",
  bad: "border-bad text-bad",
};

/** A short status label; the colour only supports the text. */
export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={`inline-flex items-center gap-1 rounded-full border px-2 py-0.5 text-sm ${TONES[tone]}`}>
      {children}
    </span>
  );
}
