// What a group says to itself and to its teachers.
import { infiniteQueryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type Message = Schemas["WorkRoomMessage"];

export const chatQuery = (workRoomId: string) =>
  infiniteQueryOptions({
    queryKey: queryKeys.chat.one(workRoomId),
    queryFn: ({ pageParam }) =>
      unwrap(client.GET("/workrooms/{id}/messages", { params: { path: { id: workRoomId }, query: pageParam === "" ? {} : { cursor: pageParam } } })),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

/** The messages of the pages that came, each once, the earliest first. */
export function mergePages(pages: readonly { data: readonly Message[] }[]): Message[] {
  const bySeq = new Map(pages.flatMap((page) => page.data.map((message) => [message.seq, message] as const)));
  return [...bySeq.values()].toSorted((one, other) => one.seq - other.seq);
}

/** The first message the reader has not seen, by how many of others he has not; undefined when there is none, or it is on an earlier page. */
export function firstUnread(messages: readonly Message[], own: string, unread: number): string | undefined {
  let rest = unread;
  if (rest === 0) return undefined;
  for (const message of messages.toReversed()) {
    if (message.senderId !== own && --rest === 0) return message.id;
  }
  return undefined;
}

/** During the first quarter of an hour words may be changed; the service decides in the end. */
export const isEditable = (message: Message, at: number): boolean => at - Date.parse(message.createdAt) < 900_000;
