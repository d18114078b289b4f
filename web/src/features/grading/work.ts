// A topic with the submissions of all groups is one query, so that moving to the next group sends no request.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, Problem, type Schemas } from "../../api/client";
import { compareNames } from "../../i18n/names";
import { queryKeys } from "../../api/queryKeys";
import { type Document, splitDocuments, type GroupTopic, type WorkRoom } from "../work-room/workRoom";

export type Assignment = Schemas["Assignment"];
export type Submission = Schemas["Submission"];
export type Copy = Schemas["SubmissionDocument"];
export type Feedback = Schemas["Feedback"];

/** A topic with the work of all its groups. Users who may see only its outline get an error. */
export const topicWorksQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.assignments.work(id),
    queryFn: async (): Promise<Assignment> => {
      const found = await unwrap(client.GET("/assignments/{id}", { params: { path: { id } } }));
      if (found.view === "FULL") return found;
      throw new Problem(404, "NOT_FOUND", "This topic is of another class");
    },
  });

/** All submissions of a group, latest first. */
export const attemptsQuery = (groupAssignmentId: string) =>
  queryOptions({
    queryKey: queryKeys.submissions.attempts(groupAssignmentId),
    queryFn: async () => {
      const found = await unwrap(
        client.GET("/feedback/group-assignments/{id}/submissions", { params: { path: { id: groupAssignmentId } } }),
      );
      return found.toSorted((one, other) => other.attempt - one.attempt);
    },
  });

/** The states of the grade of a submission, current one first; `count` is their number. */
export const gradeHistoryQuery = (submissionId: string, count: number) =>
  queryOptions({
    queryKey: queryKeys.submissions.grades(submissionId, count),
    queryFn: () => unwrap(client.GET("/feedback/submissions/{id}/grades", { params: { path: { id: submissionId } } })),
  });

/** Comments on the work of a group, oldest first. */
export const commentsQuery = (groupAssignmentId: string) =>
  queryOptions({
    queryKey: queryKeys.feedback.comments(groupAssignmentId),
    queryFn: async () => {
      const found = await unwrap(client.GET("/feedback", { params: { query: { groupAssignmentId } } }));
      return found.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt));
    },
  });

/** Contributions to the documents of a group, by user. */
export const contributionsQuery = (groupId: string) =>
  queryOptions({
    queryKey: queryKeys.groups.contributions(groupId),
    queryFn: () => unwrap(client.GET("/groups/{id}/contributions", { params: { path: { id: groupId } } })),
  });

/** The groups of a topic ordered by number, and the neighbours of one of them. */
export function findNeighbours(
  found: Assignment,
  groupId: string,
): {
  all: GroupTopic[];
  place: number;
  before: GroupTopic | undefined;
  here: GroupTopic | undefined;
  after: GroupTopic | undefined;
} {
  const all = found.groupAssignments.toSorted(
    (one, other) => one.group.groupNumber - other.group.groupNumber || compareNames(one.group.name, other.group.name),
  );
  const index = all.findIndex((one) => one.groupId === groupId);
  return { all, place: index, before: all[index - 1], here: all[index], after: index < 0 ? undefined : all[index + 1] };
}

export const isUngraded = (one: { status: GroupTopic["status"] }): boolean => one.status === "SUBMITTED";

/** A document to view: the live one of the room, the submitted copy, or both. */
export interface ViewedDocument {
  id: string;
  title: string;
  document: Document | undefined;
  copy: Copy | undefined;
}

/** Documents to view: submitted ones first, then other documents of the topic in the room. */
export function listViewedDocuments(room: WorkRoom, work: GroupTopic): ViewedDocument[] {
  const live = splitDocuments(room.documents, work).here;
  const copies = work.currentSubmission?.documents ?? [];
  const handedIn = copies.map((copy) => ({
    id: copy.documentId ?? copy.id,
    title: `${copy.title}.${copy.fileExtension}`,
    document: room.documents.find((one) => one.id === copy.documentId),
    copy,
  }));
  const others = live.filter((document) => !copies.some((copy) => copy.documentId === document.id));
  return [
    ...handedIn,
    ...others.map((document) => ({
      id: document.id,
      title: `${document.title}.${document.fileExtension}`,
      document,
      copy: undefined,
    })),
  ];
}

/** Values of a scale that is a plain list ("pass, fail"); none for a sentence or a range. */
export function listScaleValues(scale: string | null): string[] {
  const values = (scale ?? "").split(/[,;|/]/).map((value) => value.trim());
  const isList =
    values.length > 1 &&
    values.every((value) => value !== "" && value.length <= 20 && !/ |\.\.|\d-\d|^\w[-–]\w$/.test(value));
  return isList ? [...new Set(values)] : [];
}

/** Lateness in one suitable unit. */
export function lateness(seconds: number): { unit: "minutes" | "hours" | "days"; count: number } {
  if (seconds < 5_400) return { unit: "minutes", count: Math.max(1, Math.round(seconds / 60)) };
  if (seconds < 172_800) return { unit: "hours", count: Math.round(seconds / 3_600) };
  return { unit: "days", count: Math.round(seconds / 86_400) };
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** The deadline of a group: its extended one, but never before that of the topic. */
export const groupDeadline = (
  topic: { deadline: string },
  { lateAllowedUntil }: Pick<GroupTopic, "lateAllowedUntil">,
) =>
  lateAllowedUntil !== null && Date.parse(lateAllowedUntil) > Date.parse(topic.deadline)
    ? lateAllowedUntil
    : topic.deadline;

/** The time that is offered for a revision: a week, to the full hour, if the deadline has passed; otherwise the deadline stays. */
export function revisionDeadline(deadline: string, nowMs: number): string | null {
  if (Date.parse(deadline) > nowMs) return null;
  const end = new Date(nowMs + WEEK_MS);
  end.setMinutes(0, 0, 0);
  return end.toISOString();
}
