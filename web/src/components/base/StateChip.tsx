import type { ReactNode } from "react";

import * as lucide from "lucide-react";

/** The states of work. Each has an icon and a word; the colour is the third cue. */
export type ChipState =
  | "open"
  | "working"
  | "running"
  | "submitted"
  | "late"
  | "revise"
  | "graded"
  | "missing"
  | "finished"
  | "later"
  | "draft"
  | "help";

const LOOKS: Record<ChipState, readonly [lucide.LucideIcon, string]> = {
  open: [lucide.Circle, "bg-sunk text-soft"],
  working: [lucide.Pencil, "bg-working-soft text-working"],
  running: [lucide.Play, "bg-working-soft text-working"],
  submitted: [lucide.Check, "bg-submitted-soft text-submitted"],
  late: [lucide.ClockAlert, "bg-late-soft text-late"],
  revise: [lucide.Undo2, "bg-revise-soft text-revise"],
  graded: [lucide.Medal, "bg-graded-soft text-graded"],
  missing: [lucide.CircleDashed, "bg-missing-soft text-missing"],
  finished: [lucide.Lock, "bg-faint text-finished"],
  later: [lucide.CalendarClock, "bg-sheet text-soft border-line!"],
  draft: [lucide.EyeOff, "bg-sheet text-soft border-line!"],
  help: [lucide.Hand, "bg-help-ground text-help"],
};

/** The state of a work as a chip. "help" is the only solid one, so that it is found from across the room. */
export function StateChip({ state, children }: { state: ChipState; children: ReactNode }) {
  const [Icon, look] = LOOKS[state];
  return (
    <span
      className={`text-note inline-flex min-h-6 shrink-0 items-center gap-1 rounded-full border border-transparent px-2 font-medium whitespace-nowrap ${look}`}
    >
      <Icon aria-hidden="true" className="size-3.5 shrink-0" strokeWidth={2} />
      {children}
    </span>
  );
}
