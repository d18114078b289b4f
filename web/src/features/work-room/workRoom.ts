// A work room: its group, topics, documents and people.
import { queryOptions } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { compareNumbered } from "../../i18n/names";
import { queryKeys } from "../../api/queryKeys";

export type WorkRoom = Schemas["WorkRoom"];
export type Document = Schemas["WorkRoomDocument"];
export type GroupTopic = Schemas["GroupAssignment"];
export type Group = Schemas["Group"];

export const workRoomQuery = (groupId: string) =>
  queryOptions({
    queryKey: queryKeys.room.one(groupId),
    queryFn: () => unwrap(client.GET("/workrooms/group/{groupId}", { params: { path: { groupId } } })),
    // No event announces the start of a topic or the opening of a class, so students learn of it by polling.
    refetchInterval: 300_000,
  });

export const groupQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.groups.one(id),
    queryFn: async () => {
      const found = await unwrap(client.GET("/groups/{id}", { params: { path: { id } } }));
      return found.view === "FULL" ? found : null;
    },
  });

/** Details that only the full topic has: required number of documents, late policy, who finished it. */
export const topicDetailQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.assignments.inside(id),
    queryFn: async () => {
      const found = await unwrap(client.GET("/assignments/{id}", { params: { path: { id } } }));
      return found.view === "FULL" ? found : null;
    },
  });

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.document.versions(id),
    queryFn: () => unwrap(client.GET("/workrooms/documents/{id}/versions", { params: { path: { id } } })),
  });

/** Sorts active topics first, by deadline. */
export function sortTopics(topics: readonly GroupTopic[]): GroupTopic[] {
  const isOver = (topic: GroupTopic) => Number(topic.assignment.status === "FINISHED");
  return topics.toSorted(
    (one, other) => isOver(one) - isOver(other) || one.assignment.deadline.localeCompare(other.assignment.deadline),
  );
}

/** The documents of a topic or without one, and those linked to other topics of the group. */
export function splitDocuments(
  documents: readonly Document[],
  topic: GroupTopic | undefined,
): { here: Document[]; elsewhere: Document[] } {
  const byTitle = documents.toSorted((one, other) => compareNumbered(one.title, other.title));
  const isOfTopic = (document: Document) =>
    document.assignmentId == null || document.assignmentId === topic?.assignmentId;
  return { here: byTitle.filter(isOfTopic), elsewhere: byTitle.filter((document) => !isOfTopic(document)) };
}

export const fileName = (document: { title: string; fileExtension: string }): string =>
  `${document.title}.${document.fileExtension}`;

/** When submissions of this group begin to count as late. */
export const lateDeadline = (topic: GroupTopic): number =>
  Math.max(
    Date.parse(topic.assignment.deadline),
    topic.lateAllowedUntil === null ? 0 : Date.parse(topic.lateAllowedUntil),
  );

/** Names of users by id; a generic text for users who have left. */
export function useUserName(workRoom: WorkRoom): (id: string | null) => string {
  const { t } = useTranslation();
  const known = new Map([
    [workRoom.teacher.id, workRoom.teacher.name],
    ...workRoom.members.map((member) => [member.userId, member.user.name] as const),
  ]);
  return (id) => (id === null ? undefined : known.get(id)) ?? t("groups.somebody");
}
