// What came back for the work of a group: grades that were given out, and words.
import { queryOptions } from "@tanstack/react-query";

import { client, data, type Schemas } from "../api/client";
import { queryKeys } from "../lib/queryKeys";

export type Submission = Schemas["Submission"];
export type Feedback = Schemas["Feedback"];
export type Topic = Schemas["GroupAssignment"];

export const attempts = (groupAssignmentId: string) =>
  queryOptions({
    queryKey: queryKeys.feedback.attempts(groupAssignmentId),
    queryFn: () => data(client.GET("/feedback/group-assignments/{id}/submissions", { params: { path: { id: groupAssignmentId } } })),
  });

export const words = (groupAssignmentId: string) =>
  queryOptions({
    queryKey: queryKeys.feedback.words(groupAssignmentId),
    queryFn: () => data(client.GET("/feedback", { params: { query: { groupAssignmentId } } })),
  });

/** The work of a group on a topic, as it is shown or as a list shows it. */
type Work = Topic | Schemas["GroupAssignmentOfGroup"];

/** When the latest grade or text for this work came; undefined while there is none. */
export function latest(topic: Work): string | undefined {
  const submission = topic.currentSubmission;
  if (!submission) return undefined;
  if (!("feedback" in submission)) return [submission.gradePublishedAt, submission.feedbackPublishedAt].filter((at) => at !== undefined && at !== null).toSorted().at(-1);
  const grade = submission.grade?.status === "PUBLISHED" ? submission.grade.publishedAt : null;
  const texts = submission.feedback.filter((one) => one.visibility === "GROUP").map((one) => one.publishedAt);
  return [grade, ...texts].filter((at) => at !== null).toSorted().at(-1);
}

const WEEK = 7 * 86_400_000;
const key = (person: string, topic: Work) => `seen:${person}:${topic.id}`;

/** Whether something came during the last days that was not looked at in this browser. */
export function isNew(person: string, topic: Work, at: number): boolean {
  const came = latest(topic);
  return came !== undefined && at - Date.parse(came) < WEEK && came > (localStorage.getItem(key(person, topic)) ?? "");
}

export function markSeen(person: string, topic: Topic): void {
  const came = latest(topic);
  if (came !== undefined) localStorage.setItem(key(person, topic), came);
}

export const isPublished = (grade: Schemas["Grade"] | null): boolean => grade?.status === "PUBLISHED";
