import { useTranslation } from "react-i18next";

import type { Schemas } from "../../api/client";
import { StateChip } from "../../components/base/StateChip";

const STATES = {
  NOT_STARTED: "open",
  IN_PROGRESS: "working",
  SUBMITTED: "submitted",
  RETURNED: "revise",
  GRADED: "graded",
} as const;

/** The status of a group's work on a topic. */
export function WorkStateBadge({ status }: { status: Schemas["GroupAssignment"]["status"] }) {
  const { t } = useTranslation();
  return <StateChip state={STATES[status]}>{t(`state.${status}`)}</StateChip>;
}
