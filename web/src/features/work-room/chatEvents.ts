// Applies chat events to the query cache. In a lesson every member receives every message of the group: refetching each one
// would cause most requests to the service.
import type { QueryClient } from "@tanstack/react-query";

import { markStale, queryKeys, updateFamily } from "../../api/queryKeys";
import { mergePages, type RoomMessage } from "./chat";

/** Payload of a chat event. */
export interface ChatEvent {
  workRoomId?: string;
  message?: RoomMessage;
  unreadCount?: number;
}

/** Appends a message if it is the next one. Returns whether it was new, or whether the chat has to be refetched. */
export function appendMessage(cache: QueryClient, message: RoomMessage): "new" | "known" | "ask" {
  const queryKey = queryKeys.chat.one(message.workRoomId);
  // A request in flight may predate this message and would remove it again.
  if (cache.isFetching({ queryKey }) > 0) return "ask";
  const cached = cache.getQueryData(queryKey);
  const newest = cached?.pages[0];
  if (!cached || !newest) return "new";
  const last = mergePages(cached.pages).at(-1)?.seq ?? 0;
  if (message.seq > last + 1) return "ask";
  if (message.seq <= last) return "known";
  cache.setQueryData(queryKey, {
    ...cached,
    pages: [{ ...newest, data: [...newest.data, message] }, ...cached.pages.slice(1)],
  });
  return "new";
}

/** Changes the unread count of a room wherever its members see it. */
export function updateUnreadCount(cache: QueryClient, workRoomId: string, change: (unread: number) => number): void {
  updateFamily(cache, "room", (found) =>
    found.id === workRoomId ? { ...found, unreadCount: change(found.unreadCount) } : found,
  );
  cache.setQueryData(queryKeys.groups.mine(), (groups) =>
    groups?.map((group) =>
      group.workRoomId === workRoomId ? { ...group, unreadMessages: change(group.unreadMessages ?? 0) } : group,
    ),
  );
}

/** Applies an event of the open room; returns whether no refetch is needed. */
export function applyChatEvent(
  cache: QueryClient,
  workRoomId: string,
  own: string,
  event: string,
  payload: ChatEvent,
): boolean {
  if (payload.workRoomId !== workRoomId) return false;
  const { message, unreadCount } = payload;
  if (event === "message:read" && unreadCount !== undefined) {
    updateUnreadCount(cache, workRoomId, () => unreadCount);
    return true;
  }
  const added = event === "message:new" && message ? appendMessage(cache, message) : "ask";
  if (added === "ask") return false;
  if (added === "new" && message) {
    // The banner of a teacher's message depends on it.
    updateFamily(cache, "room", (found) => (found.id === workRoomId ? { ...found, lastMessage: message } : found));
    if (message.senderId !== own) updateUnreadCount(cache, workRoomId, (unread) => unread + 1);
  }
  // Pages that are not open fetch when they are opened.
  markStale(cache, "groups", "board");
  return true;
}
