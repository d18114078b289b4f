import { describe, expect, it, vi } from "vitest";

import { client, Problem } from "../../api/client";
import { partial } from "../../testing/partial";

import {
  nextInCycle,
  type Board,
  type BoardGroup,
  extendedDeadline,
  announcedMinutes,
  groupsNeedingTeacher,
  matchesFilter,
  helpQueue,
  isHelpNeeded,
  quietSince,
} from "./board";
import { withoutHandledCalls } from "./handledCalls";
import { sendToGroups } from "./sendToGroups";

const MINUTE = 60_000;
const AT = Date.parse("2026-11-20T10:00:00Z");

function card(
  id: string,
  change: {
    status?: BoardGroup["groupAssignment"]["status"];
    minutesAgo?: number;
    writing?: string[];
    needsHelp?: boolean;
    isHelpWithdrawn?: boolean;
    activity?: number[];
    message?: string;
    isOver?: boolean;
  },
): BoardGroup {
  const lastActivity = new Date(AT - (change.minutesAgo ?? 0) * MINUTE).toISOString();
  return partial<BoardGroup>({
    group: { id, workRoomId: `room ${id}` },
    groupAssignment: {
      status: change.status ?? "IN_PROGRESS",
      assignment: { status: change.isOver ? "FINISHED" : "ACTIVE" },
    },
    activity: change.activity ?? [],
    helpMessage: change.message ?? null,
    documents: change.minutesAgo === undefined ? [] : [{ lastActivity }],
    writing: change.writing ?? [],
    needsHelp: change.needsHelp ?? false,
    helpWithdrawnAt: change.isHelpWithdrawn ? new Date(AT).toISOString() : null,
  });
}

describe("isHelpNeeded", () => {
  it("is false once the group no longer needs help, although the request stays in the queue", () => {
    const groups = [card("withdrawn", { needsHelp: true, isHelpWithdrawn: true }), card("waits", { needsHelp: true })];
    const board = partial<Board>({ groups, helpQueue: ["waits", "withdrawn"] });
    expect(helpQueue(board).map(isHelpNeeded)).toEqual([true, false]);
    expect(groupsNeedingTeacher(board, AT)).toEqual(["waits"]);
    expect(groups.map((group) => matchesFilter(group, "help", AT))).toEqual([false, true]);
  });
});

describe("quietSince", () => {
  it("returns a value after three minutes of inactivity", () => {
    expect(quietSince(card("g", { minutesAgo: 2 }), AT)).toBeUndefined();
    expect(quietSince(card("g", { minutesAgo: 9 }), AT)).toBe(AT - 9 * MINUTE);
  });
  it("is undefined when a member typed within a minute, whatever the save times", () => {
    expect(quietSince(card("g", { minutesAgo: 9, activity: [0, 3, 0] }), AT)).toBeUndefined();
    expect(quietSince(card("g", { minutesAgo: 9, activity: [3, 0, 0, 0, 0, 0] }), AT)).toBe(AT - 5 * MINUTE);
  });
  it("is undefined in a finished topic, and no group counts as working", () => {
    expect(quietSince(card("g", { minutesAgo: 9, isOver: true }), AT)).toBeUndefined();
    expect(matchesFilter(card("g", { minutesAgo: 1, isOver: true }), "working", AT)).toBe(false);
  });
  it("is undefined for groups that type, have submitted, or have not begun", () => {
    expect(quietSince(card("g", { minutesAgo: 9, writing: ["u"] }), AT)).toBeUndefined();
    expect(quietSince(card("g", { minutesAgo: 9, status: "SUBMITTED" }), AT)).toBeUndefined();
    expect(quietSince(card("g", {}), AT)).toBeUndefined();
  });
});

const FILTERS = ["all", "working", "quiet", "help", "open"] as const;

describe("filters", () => {
  it("match each group", () => {
    const waiting = card("g", { minutesAgo: 9, needsHelp: true });
    expect(FILTERS.map((filter) => matchesFilter(waiting, filter, AT))).toEqual([true, false, true, true, true]);
    const done = card("g", { status: "GRADED" });
    expect(FILTERS.map((filter) => matchesFilter(done, filter, AT))).toEqual([true, false, false, false, false]);
  });
  it("count as working who writes now or wrote a moment ago", () => {
    const isWorking = (change: Parameters<typeof card>[1]) => matchesFilter(card("g", change), "working", AT);
    expect(isWorking({ minutesAgo: 1 })).toBe(true);
    expect(isWorking({ minutesAgo: 9, writing: ["u"] })).toBe(true);
    expect(isWorking({ minutesAgo: 9 })).toBe(false);
    expect(isWorking({})).toBe(false);
  });
  it("keep the order of the help queue", () => {
    const groups = [card("a", { needsHelp: true }), card("b", { needsHelp: true }), card("c", {})];
    const waiting = helpQueue(partial<Board>({ groups, helpQueue: ["b", "a", "gone"] }));
    expect(waiting.map((one) => one.group.id)).toEqual(["b", "a"]);
  });
});

describe("groupsNeedingTeacher", () => {
  it("lists waiting, submitted, then quiet groups without duplicates", () => {
    const groups = [
      card("quiet", { minutesAgo: 9 }),
      card("done", { status: "SUBMITTED" }),
      card("waits", { minutesAgo: 9, needsHelp: true }),
      card("fine", { minutesAgo: 0 }),
    ];
    expect(groupsNeedingTeacher(partial<Board>({ groups, helpQueue: ["waits"] }), AT)).toEqual([
      "waits",
      "done",
      "quiet",
    ]);
  });
  it("wraps around", () => {
    expect([undefined, "a", "b", "elsewhere"].map((id) => nextInCycle(["a", "b"], id))).toEqual(["a", "b", "a", "a"]);
    expect(nextInCycle([], "a")).toBeUndefined();
  });
});

describe("remaining time", () => {
  it("is announced once at ten, five, one and zero minutes", () => {
    const end = AT + 10 * MINUTE;
    expect(announcedMinutes(end, AT - 1000, AT)).toBe(10);
    expect(announcedMinutes(end, AT, AT + 1000)).toBeUndefined();
    expect(announcedMinutes(end, end - MINUTE - 1, end - MINUTE)).toBe(1);
    expect(announcedMinutes(end, end - 1, end)).toBe(0);
    expect(announcedMinutes(end, end, end + MINUTE)).toBeUndefined();
  });
  it("extends from the deadline, or from now if it has passed", () => {
    expect(extendedDeadline(new Date(AT).toISOString(), AT - MINUTE, 5)).toBe("2026-11-20T10:05:00.000Z");
    expect(extendedDeadline(new Date(AT).toISOString(), AT + 90_000, 5)).toBe("2026-11-20T10:07:00.000Z");
  });
});

describe("handled help request", () => {
  const groups = [card("a", { needsHelp: true, message: "Help" }), card("b", { needsHelp: true })];
  const found = partial<Board>({ groups, helpQueue: ["a", "b"] });
  it("is hidden before the service is updated", () => {
    const seen = withoutHandledCalls(found, new Map([["a", " Help"]]));
    expect(seen.helpQueue).toEqual(["b"]);
    expect(seen.groups.map((one) => one.needsHelp)).toEqual([false, true]);
  });
  it("reappears when the group asks again", () => {
    expect(withoutHandledCalls(found, new Map([["a", " Something else"]])).helpQueue).toEqual(["a", "b"]);
  });
});

describe("message to groups", () => {
  it("reports failed deliveries", async () => {
    const post = vi.spyOn(client, "POST").mockImplementation((async (
      _path: string,
      { params }: { params: { path: { id: string } } },
    ) => {
      if (params.path.id === "room b") throw new Problem(409, "CLASS_ARCHIVED", "no");
      return {};
    }) as typeof client.POST);
    const failed = await sendToGroups([card("a", {}), card("b", {})], "Five minutes left.", "number");
    expect(failed.map((one) => one.card.group.id)).toEqual(["b"]);
    expect(post).toHaveBeenCalledTimes(2);
    post.mockRestore();
  });
});
