import { QueryClient } from "@tanstack/react-query";
import { beforeEach, describe, expect, it } from "vitest";

import { queryKeys } from "../../api/queryKeys";
import type { WorkRoom } from "./workRoom";
import { mergePages, type RoomMessage } from "./chat";
import { appendMessage, applyChatEvent } from "./chatEvents";
import { partial } from "../../testing/partial";

const message = (seq: number, senderId = "ben") =>
  partial<RoomMessage>({ id: `m${seq}`, seq, senderId, workRoomId: "room" });
const chatEvent = (seq: number, senderId?: string) => ({ workRoomId: "room", message: message(seq, senderId) });

let cache: QueryClient;
const shown = () => mergePages(cache.getQueryData(queryKeys.chat.one("room"))?.pages ?? []).map((one) => one.seq);
const unread = () => cache.getQueryData(queryKeys.room.one("group"))?.unreadCount;

beforeEach(() => {
  cache = new QueryClient();
  cache.setQueryData(queryKeys.chat.one("room"), { pages: [{ data: [message(2), message(1)] }], pageParams: [""] });
  cache.setQueryData(queryKeys.room.one("group"), { id: "room", unreadCount: 0 } as WorkRoom);
});

describe("chat events", () => {
  it("append the next message once and count messages of others", () => {
    expect(applyChatEvent(cache, "room", "ana", "message:new", chatEvent(3))).toBe(true);
    expect(applyChatEvent(cache, "room", "ana", "message:new", chatEvent(4, "ana"))).toBe(true);
    expect(appendMessage(cache, message(4))).toBe("known");
    expect(applyChatEvent(cache, "room", "ana", "message:new", chatEvent(3))).toBe(true);
    expect(shown()).toEqual([1, 2, 3, 4]);
    expect(unread()).toBe(1);
    expect(applyChatEvent(cache, "room", "ana", "message:read", { workRoomId: "room", unreadCount: 0 })).toBe(true);
    expect(unread()).toBe(0);
  });
  it("refetch when a message is missing or a request is in flight", async () => {
    expect(applyChatEvent(cache, "room", "ana", "message:new", chatEvent(4))).toBe(false);
    let arrive: (answer: unknown) => void = () => {};
    const asked = cache.fetchQuery({
      queryKey: queryKeys.chat.one("room"),
      queryFn: () => new Promise((done) => (arrive = done)),
    });
    expect(applyChatEvent(cache, "room", "ana", "message:new", chatEvent(3))).toBe(false);
    arrive({ pages: [], pageParams: [] });
    await asked;
    expect(applyChatEvent(cache, "room", "ana", "message:updated", chatEvent(2))).toBe(false);
    expect(applyChatEvent(cache, "other", "ana", "message:new", chatEvent(3))).toBe(false);
  });
});
