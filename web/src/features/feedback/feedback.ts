// Feedback on the work of a group: published grades and texts.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type Submission = Schemas["Submission"];
export type Feedback = Schemas["Feedback"];
export type GroupTopic = Schemas["GroupAssignment"];

export const ownAttemptsQuery = (groupAssignmentId: string) =>
  queryOptions({
    queryKey: queryKeys.feedback.attempts(groupAssignmentId),
    queryFn: () =>
      unwrap(
        client.GET("/feedback/group-assignments/{id}/submissions", { params: { path: { id: groupAssignmentId } } }),
      ),
  });

export const feedbackTextsQuery = (groupAssignmentId: string) =>
  queryOptions({
    queryKey: queryKeys.feedback.words(groupAssignmentId),
    queryFn: () => unwrap(client.GET("/feedback", { params: { query: { groupAssignmentId } } })),
  });

/** The work of a group on a topic, in full or as an item of a list. */
type Work = GroupTopic | Schemas["GroupAssignmentOfGroup"];

/** Time of the latest grade or text of this work; undefined while there is none. */
export function latestFeedbackTime(topic: Work): string | undefined {
  const submission = topic.currentSubmission;
  if (!submission) return undefined;
  if (!("feedback" in submission))
    return [submission.gradePublishedAt, submission.feedbackPublishedAt]
      .filter((at) => at !== undefined && at !== null)
      .toSorted()
      .at(-1);
  const grade = submission.grade?.status === "PUBLISHED" ? submission.grade.publishedAt : null;
  const texts = submission.feedback.filter((one) => one.visibility === "GROUP").map((one) => one.publishedAt);
  return [grade, ...texts]
    .filter((at) => at !== null)
    .toSorted()
    .at(-1);
}

const WEEK = 7 * 86_400_000;
const storageKey = (person: string, topic: Work) => `seen:${person}:${topic.id}`;

/** Whether feedback of the last days was not viewed in this browser yet. */
export function hasNewFeedback(person: string, topic: Work, at: number): boolean {
  const feedbackTime = latestFeedbackTime(topic);
  return (
    feedbackTime !== undefined &&
    at - Date.parse(feedbackTime) < WEEK &&
    feedbackTime > (localStorage.getItem(storageKey(person, topic)) ?? "")
  );
}

export function markFeedbackSeen(person: string, topic: GroupTopic): void {
  const feedbackTime = latestFeedbackTime(topic);
  if (feedbackTime !== undefined) localStorage.setItem(storageKey(person, topic), feedbackTime);
}

export const isPublished = (grade: Schemas["Grade"] | null): boolean => grade?.status === "PUBLISHED";
