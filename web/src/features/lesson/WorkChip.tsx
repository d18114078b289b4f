import { useTranslation } from "react-i18next";

import { type ChipState, StateChip } from "../../components/base/StateChip";
import { useLateText } from "../../i18n/useLateText";

/** The facts about the work of a group on a topic that its chip shows. */
export interface WorkFacts {
  status: "NOT_STARTED" | "IN_PROGRESS" | "SUBMITTED" | "RETURNED" | "GRADED";
  /** Whether what was submitted was late. */
  isLate: boolean;
  /** When submissions of this group begin to count as late. */
  deadline: string;
  isFinished: boolean;
}

const STATES = {
  NOT_STARTED: "open",
  IN_PROGRESS: "working",
  SUBMITTED: "submitted",
  RETURNED: "revise",
  GRADED: "graded",
} as const satisfies Record<WorkFacts["status"], ChipState>;

/** The chip of a work: its status, or how late it is, or that it is missing in a finished topic. */
export function workState(facts: WorkFacts, now: number): ChipState {
  const isOpen = facts.status === "NOT_STARTED" || facts.status === "IN_PROGRESS";
  if (isOpen && facts.isFinished) return "missing";
  if (isOpen && now > Date.parse(facts.deadline)) return "late";
  if (facts.status === "SUBMITTED" && facts.isLate) return "late";
  return STATES[facts.status];
}

/** The state of the work of a group on a topic, in the same words for students and teachers. */
export function WorkChip({ facts, now, detail }: { facts: WorkFacts; now: number; detail?: string | undefined }) {
  const { t } = useTranslation();
  const lateText = useLateText();
  const state = workState(facts, now);
  if (state === "missing") return <StateChip state={state}>{t("state.MISSING")}</StateChip>;
  if (state === "late" && facts.status !== "SUBMITTED")
    return <StateChip state={state}>{lateText((now - Date.parse(facts.deadline)) / 1000)}</StateChip>;
  return (
    <StateChip state={state}>
      {t(state === "late" ? "state.SUBMITTED_LATE" : `state.${facts.status}`)}
      {detail === undefined ? null : <strong>{detail}</strong>}
    </StateChip>
  );
}
