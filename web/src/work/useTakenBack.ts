import { useState } from "react";

import type { Topic } from "../features/work-room/workRoom";

export type Gone = "back" | "anew";

/** Says that the work one is looking at was taken back, or handed in anew, while one looked. Giving it back oneself is no news. */
export function useTakenBack({ currentSubmissionId, status }: Topic): Gone | undefined {
  const [gone, setGone] = useState<Gone>();
  const [last, setLast] = useState(currentSubmissionId);
  if (last !== currentSubmissionId) {
    setLast(currentSubmissionId);
    const news = currentSubmissionId !== null ? (last === null ? undefined : "anew") : status === "RETURNED" ? undefined : "back";
    setGone(news);
  }
  return gone;
}
