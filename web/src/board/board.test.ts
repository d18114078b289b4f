import { describe, expect, it } from "vitest";

import { type BoardGroup, passes, queue, quietSince } from "./board";

const MINUTE = 60_000;
const AT = Date.parse("2026-11-20T10:00:00Z");

function card(id: string, change: { status?: string; minutesAgo?: number; writing?: string[]; needsHelp?: boolean }): BoardGroup {
  const lastActivity = new Date(AT - (change.minutesAgo ?? 0) * MINUTE).toISOString();
  return {
    group: { id },
    groupAssignment: { status: change.status ?? "IN_PROGRESS" },
    documents: change.minutesAgo === undefined ? [] : [{ lastActivity }],
    writing: change.writing ?? [],
    needsHelp: change.needsHelp ?? false,
  } as unknown as BoardGroup;
}

describe("quiet", () => {
  it("is a group in which nothing happened for three minutes", () => {
    expect(quietSince(card("g", { minutesAgo: 2 }), AT)).toBeUndefined();
    expect(quietSince(card("g", { minutesAgo: 9 }), AT)).toBe(AT - 9 * MINUTE);
  });
  it("is nobody who writes, has handed in, or has not begun", () => {
    expect(quietSince(card("g", { minutesAgo: 9, writing: ["u"] }), AT)).toBeUndefined();
    expect(quietSince(card("g", { minutesAgo: 9, status: "SUBMITTED" }), AT)).toBeUndefined();
    expect(quietSince(card("g", {}), AT)).toBeUndefined();
  });
});

describe("filters", () => {
  it("show each group where it belongs", () => {
    const waiting = card("g", { minutesAgo: 9, needsHelp: true });
    expect(["all", "working", "quiet", "help", "open"].map((filter) => passes(waiting, filter as never, AT))).toEqual([true, false, true, true, true]);
    const done = card("g", { status: "GRADED" });
    expect(["all", "working", "quiet", "help", "open"].map((filter) => passes(done, filter as never, AT))).toEqual([true, false, false, false, false]);
  });
  it("keep the order of those who wait", () => {
    const groups = [card("a", { needsHelp: true }), card("b", { needsHelp: true }), card("c", {})];
    const waiting = queue({ groups, helpQueue: ["b", "a", "gone"] } as never);
    expect(waiting.map((one) => one.group.id)).toEqual(["b", "a"]);
  });
});
