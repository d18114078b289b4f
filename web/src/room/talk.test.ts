import { QueryClient } from "@tanstack/react-query";
import { beforeEach, describe, expect, it } from "vitest";

import { queryKeys } from "../lib/queryKeys";
import type { WorkRoom } from "./room";
import { inOrder, type Message } from "./chat";
import { append, overhear } from "./talk";

const message = (seq: number, senderId = "ben") => ({ id: `m${seq}`, seq, senderId, workRoomId: "room" }) as unknown as Message;
const said = (seq: number, senderId?: string) => ({ workRoomId: "room", message: message(seq, senderId) });

let cache: QueryClient;
const shown = () => inOrder(cache.getQueryData<{ pages: { data: Message[] }[] }>(queryKeys.chat.one("room"))?.pages ?? []).map((one) => one.seq);
const unread = () => cache.getQueryData<{ unreadCount: number }>(queryKeys.room.one("group"))?.unreadCount;

beforeEach(() => {
  cache = new QueryClient();
  cache.setQueryData(queryKeys.chat.one("room"), { pages: [{ data: [message(2), message(1)] }], pageParams: [""] });
  cache.setQueryData(queryKeys.room.one("group"), { id: "room", unreadCount: 0 } as WorkRoom);
});

describe("the talk of a room", () => {
  it("grows by the next message, once, and counts those of others", () => {
    expect(overhear(cache, "room", "ana", "message:new", said(3))).toBe(true);
    expect(overhear(cache, "room", "ana", "message:new", said(4, "ana"))).toBe(true);
    expect(append(cache, message(4))).toBe("known");
    expect(overhear(cache, "room", "ana", "message:new", said(3))).toBe(true);
    expect(shown()).toEqual([1, 2, 3, 4]);
    expect(unread()).toBe(1);
    expect(overhear(cache, "room", "ana", "message:read", { workRoomId: "room", unreadCount: 0 })).toBe(true);
    expect(unread()).toBe(0);
  });
  it("is asked for where something is missing, or something is on its way", async () => {
    expect(overhear(cache, "room", "ana", "message:new", said(4))).toBe(false);
    let arrive: (answer: unknown) => void = () => {};
    const asked = cache.fetchQuery({ queryKey: queryKeys.chat.one("room"), queryFn: () => new Promise((done) => (arrive = done)) });
    expect(overhear(cache, "room", "ana", "message:new", said(3))).toBe(false);
    arrive({ pages: [], pageParams: [] });
    await asked;
    expect(overhear(cache, "room", "ana", "message:updated", said(2))).toBe(false);
    expect(overhear(cache, "other", "ana", "message:new", said(3))).toBe(false);
  });
});
