import { useState } from "react";

import type { GroupTopic } from "../work-room/workRoom";

export type SubmissionChange = "back" | "anew";

/** Detects that the displayed work was taken back or resubmitted meanwhile. Ignores the user's own action. */
export function useSubmissionChange({ currentSubmissionId, status }: GroupTopic): SubmissionChange | undefined {
  const [change, setChange] = useState<SubmissionChange>();
  const [last, setLast] = useState(currentSubmissionId);
  if (last !== currentSubmissionId) {
    setLast(currentSubmissionId);
    const detected =
      currentSubmissionId !== null ? (last === null ? undefined : "anew") : status === "RETURNED" ? undefined : "back";
    setChange(detected);
  }
  return change;
}
