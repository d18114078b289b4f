// The chat of a group with its teachers.
import { infiniteQueryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type RoomMessage = Schemas["WorkRoomMessage"];

export const chatQuery = (workRoomId: string) =>
  infiniteQueryOptions({
    queryKey: queryKeys.chat.one(workRoomId),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/workrooms/{id}/messages", {
          params: { path: { id: workRoomId }, query: pageParam === "" ? {} : { cursor: pageParam } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

/** Messages of all loaded pages without duplicates, oldest first. */
export function mergePages(pages: readonly { data: readonly RoomMessage[] }[]): RoomMessage[] {
  const bySeq = new Map(pages.flatMap((page) => page.data.map((message) => [message.seq, message] as const)));
  return [...bySeq.values()].toSorted((one, other) => one.seq - other.seq);
}

const DAY = 86_400_000;

/** The newest message of a teacher after the message `seen` and not older than a day, unless it was deleted. */
export const newestTeacherMessage = (
  messages: readonly RoomMessage[],
  seen: number,
  at: number,
): RoomMessage | undefined =>
  messages.findLast(
    (message) =>
      message.seq > seen &&
      message.sender !== null &&
      message.sender.role !== "STUDENT" &&
      message.deletedAt === null &&
      message.content !== "" &&
      at - Date.parse(message.createdAt) < DAY,
  );

/** The first unread message, given the number of unread messages of others; undefined when there is none, or it is on an earlier page. */
export function firstUnread(messages: readonly RoomMessage[], own: string, unread: number): string | undefined {
  let rest = unread;
  if (rest === 0) return undefined;
  for (const message of messages.toReversed()) {
    if (message.senderId !== own && --rest === 0) return message.id;
  }
  return undefined;
}

/** Messages can be edited for a quarter of an hour; the service decides in the end. */
export const isEditable = (message: RoomMessage, at: number): boolean => at - Date.parse(message.createdAt) < 900_000;
