import { describe, expect, it } from "vitest";

import { firstUnread, mergePages, newestTeacherMessage, isEditable, type RoomMessage } from "./chat";
import { partial } from "../../testing/partial";

const message = (seq: number, senderId: string) =>
  partial<RoomMessage>({ id: `m${seq}`, seq, senderId, createdAt: "2026-01-01T10:00:00Z" });

describe("chat", () => {
  it("shows each message once, oldest first, with overlapping pages", () => {
    const pages = [{ data: [message(3, "a"), message(2, "a")] }, { data: [message(2, "a"), message(1, "a")] }];
    expect(mergePages(pages).map((one) => one.seq)).toEqual([1, 2, 3]);
  });
  it("marks the first unread message and ignores the reader's own", () => {
    const messages = [message(1, "ben"), message(2, "ana"), message(3, "ben"), message(4, "ana")];
    expect(firstUnread(messages, "ana", 1)).toBe("m3");
    expect(firstUnread(messages, "ana", 2)).toBe("m1");
    expect(firstUnread(messages, "ana", 0)).toBeUndefined();
    expect(firstUnread(messages, "ana", 3)).toBeUndefined();
  });
  it("finds the newest message of a teacher that was not seen, for a day", () => {
    const at = Date.parse("2026-01-01T11:00:00Z");
    const from = (seq: number, role: "STUDENT" | "TEACHER", change: Partial<RoomMessage> = {}) =>
      partial<RoomMessage>({
        seq,
        sender: { role },
        content: "Save now.",
        createdAt: "2026-01-01T10:00:00Z",
        deletedAt: null,
        ...change,
      });
    const messages = [from(1, "TEACHER"), from(2, "TEACHER"), from(3, "STUDENT")];
    expect(newestTeacherMessage(messages, 0, at)?.seq).toBe(2);
    expect(newestTeacherMessage(messages, 2, at)).toBeUndefined();
    expect(newestTeacherMessage(messages, 0, at + 86_400_000)).toBeUndefined();
    expect(newestTeacherMessage([from(1, "TEACHER", { deletedAt: "2026-01-01T10:30:00Z" })], 0, at)).toBeUndefined();
  });
  it("allows editing for a quarter of an hour", () => {
    const at = Date.parse("2026-01-01T10:00:00Z");
    expect(isEditable(message(1, "ana"), at + 899_000)).toBe(true);
    expect(isEditable(message(1, "ana"), at + 900_000)).toBe(false);
  });
});
