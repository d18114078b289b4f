// One work after another: a topic with what its groups handed in is one question, so that going on to the next group asks nothing.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, Problem, type Schemas } from "../../api/client";
import { compareNames } from "../../i18n/names";
import { queryKeys } from "../../api/queryKeys";
import { type Document, splitDocuments, type Topic, type WorkRoom } from "../work-room/workRoom";

export type Assignment = Schemas["Assignment"];
export type Submission = Schemas["Submission"];
export type Copy = Schemas["SubmissionDocument"];
export type Feedback = Schemas["Feedback"];

/** A topic with the work of all its groups. Whoever may only know its outline does not find it here. */
export const topicWorksQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.assignments.work(id),
    queryFn: async (): Promise<Assignment> => {
      const found = await unwrap(client.GET("/assignments/{id}", { params: { path: { id } } }));
      if (found.view === "FULL") return found;
      throw new Problem(404, "NOT_FOUND", "This topic is of another class");
    },
  });

/** All attempts of a group, the last one first. */
export const attemptsQuery = (groupAssignmentId: string) =>
  queryOptions({
    queryKey: queryKeys.submissions.attempts(groupAssignmentId),
    queryFn: async () => {
      const found = await unwrap(client.GET("/feedback/group-assignments/{id}/submissions", { params: { path: { id: groupAssignmentId } } }));
      return found.toSorted((one, other) => other.attempt - one.attempt);
    },
  });

/** The states of the grade of a submission, the present one first; `count` is how many there are. */
export const gradeHistoryQuery = (submissionId: string, count: number) =>
  queryOptions({
    queryKey: queryKeys.submissions.grades(submissionId, count),
    queryFn: () => unwrap(client.GET("/feedback/submissions/{id}/grades", { params: { path: { id: submissionId } } })),
  });

/** What was said about the work of a group, in the order it was said. */
export const commentsQuery = (groupAssignmentId: string) =>
  queryOptions({
    queryKey: queryKeys.feedback.comments(groupAssignmentId),
    queryFn: async () => {
      const found = await unwrap(client.GET("/feedback", { params: { query: { groupAssignmentId } } }));
      return found.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt));
    },
  });

/** Who wrote how long in the documents of a group. */
export const contributionsQuery = (groupId: string) =>
  queryOptions({
    queryKey: queryKeys.groups.contributions(groupId),
    queryFn: () => unwrap(client.GET("/groups/{id}/contributions", { params: { path: { id: groupId } } })),
  });

export const nameOf = (group: { displayName?: string | null; name: string; groupNumber: number }): string => `${group.groupNumber} ${group.displayName ?? group.name}`;

/** The groups of a topic as they sit in the room, and who is before and after one of them. */
export function findNeighbours(found: Assignment, groupId: string): { all: Topic[]; place: number; before: Topic | undefined; here: Topic | undefined; after: Topic | undefined } {
  const all = found.groupAssignments.toSorted((one, other) => one.group.groupNumber - other.group.groupNumber || compareNames(one.group.name, other.group.name));
  const index = all.findIndex((one) => one.groupId === groupId);
  return { all, place: index, before: all[index - 1], here: all[index], after: index < 0 ? undefined : all[index + 1] };
}

export const isUngraded = (one: { status: Topic["status"] }): boolean => one.status === "SUBMITTED";

/** A document to look at: the live one of the room, the copy that was handed in, or both. */
export interface ViewedDocument {
  id: string;
  title: string;
  document: Document | undefined;
  copy: Copy | undefined;
}

/** What there is to look at: what was handed in first, then what else the room has for the topic. */
export function listViewedDocuments(room: WorkRoom, work: Topic): ViewedDocument[] {
  const live = splitDocuments(room.documents, work).here;
  const copies = work.currentSubmission?.documents ?? [];
  const handedIn = copies.map((copy) => ({
    id: copy.documentId ?? copy.id,
    title: `${copy.title}.${copy.fileExtension}`,
    document: room.documents.find((one) => one.id === copy.documentId),
    copy,
  }));
  const others = live.filter((document) => !copies.some((copy) => copy.documentId === document.id));
  return [...handedIn, ...others.map((document) => ({ id: document.id, title: `${document.title}.${document.fileExtension}`, document, copy: undefined }))];
}

/** The values of a scale that plainly lists them ("pass, fail"); nothing where it is a sentence or has only two ends. */
export function listScaleValues(scale: string | null): string[] {
  const values = (scale ?? "").split(/[,;|/]/).map((value) => value.trim());
  const isList = values.length > 1 && values.every((value) => value !== "" && value.length <= 20 && !/ |\.\.|\d-\d|^\w[-–]\w$/.test(value));
  return isList ? [...new Set(values)] : [];
}

/** How late something was, in the unit that matters. */
export function lateness(seconds: number): { unit: "minutes" | "hours" | "days"; count: number } {
  if (seconds < 5_400) return { unit: "minutes", count: Math.max(1, Math.round(seconds / 60)) };
  if (seconds < 172_800) return { unit: "hours", count: Math.round(seconds / 3_600) };
  return { unit: "days", count: Math.round(seconds / 86_400) };
}
