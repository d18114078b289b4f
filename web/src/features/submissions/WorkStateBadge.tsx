import { useTranslation } from "react-i18next";

import type { Schemas } from "../../api/client";
import { Badge } from "../../components/base/Badge";

const TONES = {
  NOT_STARTED: "plain",
  IN_PROGRESS: "plain",
  SUBMITTED: "good",
  RETURNED: "warn",
  GRADED: "good",
} as const;

/** The status of a group's work on a topic. */
export function WorkStateBadge({ status }: { status: Schemas["GroupAssignment"]["status"] }) {
  const { t } = useTranslation();
  return <Badge tone={TONES[status]}>{t(`work.state.${status}`)}</Badge>;
}
