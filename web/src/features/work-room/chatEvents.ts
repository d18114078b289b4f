// What is said in a room is put into what is shown as it comes. In a lesson everybody hears everybody of his group: if each
// asked for it again, that would be most of what the service is asked.
import type { InfiniteData, QueryClient } from "@tanstack/react-query";

import type { ListedGroup } from "../groups/groups";
import { markStale, queryKeys, updateFamily } from "../../api/queryKeys";
import { mergePages, type Message } from "./chat";

/** What an event says about the talk of a room. */
export interface ChatEvent {
  workRoomId?: string;
  message?: Message;
  unreadCount?: number;
}

type Pages = InfiniteData<{ data: Message[] }>;

/** Adds a message where it is the next one; says whether it was new, or whether the talk has to be asked for. */
export function appendMessage(cache: QueryClient, message: Message): "new" | "known" | "ask" {
  const queryKey = queryKeys.chat.one(message.workRoomId);
  // What is on its way may be from before this message, and would take it away again.
  if (cache.isFetching({ queryKey }) > 0) return "ask";
  const cached = cache.getQueryData<Pages>(queryKey);
  const newest = cached?.pages[0];
  if (!cached || !newest) return "new";
  const last = mergePages(cached.pages).at(-1)?.seq ?? 0;
  if (message.seq > last + 1) return "ask";
  if (message.seq <= last) return "known";
  cache.setQueryData<Pages>(queryKey, { ...cached, pages: [{ ...newest, data: [...newest.data, message] }, ...cached.pages.slice(1)] });
  return "new";
}

/** Changes how many messages of a room are new, wherever that is shown to its members. */
export function updateUnreadCount(cache: QueryClient, workRoomId: string, change: (unread: number) => number): void {
  updateFamily(cache, "room", (found) => (found.id === workRoomId ? { ...found, unreadCount: change(found.unreadCount) } : found));
  cache.setQueryData<ListedGroup[]>(queryKeys.groups.mine(), (groups) =>
    groups?.map((group) => (group.workRoomId === workRoomId ? { ...group, unreadMessages: change(group.unreadMessages ?? 0) } : group)),
  );
}

/** Hears an event for the room that is shown; answers whether nothing has to be asked for. */
export function applyChatEvent(cache: QueryClient, workRoomId: string, own: string, event: string, payload: ChatEvent): boolean {
  if (payload.workRoomId !== workRoomId) return false;
  const { message, unreadCount } = payload;
  if (event === "message:read" && unreadCount !== undefined) {
    updateUnreadCount(cache, workRoomId, () => unreadCount);
    return true;
  }
  const added = event === "message:new" && message ? appendMessage(cache, message) : "ask";
  if (added === "ask") return false;
  if (added === "new" && message?.senderId !== own) updateUnreadCount(cache, workRoomId, (unread) => unread + 1);
  // Pages that are not open ask when they are.
  markStale(cache, "groups", "board");
  return true;
}
