import { useState } from "react";

import type { Topic } from "../work-room/workRoom";

export type SubmissionChange = "back" | "anew";

/** Says that the work one is looking at was taken back, or handed in anew, while one looked. Giving it back oneself is no news. */
export function useSubmissionChange({ currentSubmissionId, status }: Topic): SubmissionChange | undefined {
  const [change, setChange] = useState<SubmissionChange>();
  const [last, setLast] = useState(currentSubmissionId);
  if (last !== currentSubmissionId) {
    setLast(currentSubmissionId);
    const detected = currentSubmissionId !== null ? (last === null ? undefined : "anew") : status === "RETURNED" ? undefined : "back";
    setChange(detected);
  }
  return change;
}
