// A work room: its group, its topics, its documents, its chat.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { client, data, type Schemas } from "../api/client";

export type WorkRoom = Schemas["WorkRoom"];
export type Document = Schemas["WorkRoomDocument"];
export type Message = Schemas["WorkRoomMessage"];
export type Topic = Schemas["GroupAssignment"];

export const room = (groupId: string) =>
  queryOptions({
    queryKey: ["room", groupId],
    queryFn: () => data(client.GET("/workrooms/group/{groupId}", { params: { path: { groupId } } })),
  });

export const group = (id: string) =>
  queryOptions({
    queryKey: ["groups", "one", id],
    queryFn: async () => {
      const found = await data(client.GET("/groups/{id}", { params: { path: { id } } }));
      return "members" in found ? found : null;
    },
  });

export const chat = (workRoomId: string) =>
  infiniteQueryOptions({
    queryKey: ["chat", workRoomId],
    queryFn: ({ pageParam }) =>
      data(client.GET("/workrooms/{id}/messages", { params: { path: { id: workRoomId }, query: pageParam === "" ? {} : { cursor: pageParam } } })),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

/** Topics still worked on first, by the time they end. */
export function inTime(topics: readonly Topic[]): Topic[] {
  const isOver = (topic: Topic) => Number(topic.assignment.status === "FINISHED");
  return topics.toSorted((one, other) => isOver(one) - isOver(other) || one.assignment.deadline.localeCompare(other.assignment.deadline));
}

/** The documents of one topic: those written for it, and those that are for none. */
export const documentsOf = (found: WorkRoom, topic: Topic | undefined): Document[] =>
  found.documents.filter((document) => document.assignmentId == null || document.assignmentId === topic?.assignmentId);
