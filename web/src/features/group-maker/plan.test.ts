import { describe, expect, it } from "vitest";

import {
  brokenWishes,
  membershipChanges,
  ungroupedStudents,
  countGroups,
  splitEvenly,
  hasChanges,
  withAbsence,
  withMoved,
  renderGroupName,
  type PlanColumn,
  type Plan,
  rebasePlan,
  withScheme,
  applyStep,
  studentsToDivide,
  withNewGroups,
  withEmptyGroup,
} from "./plan";

const column = (id: string, ...members: string[]): PlanColumn => ({
  key: id,
  groupId: id,
  number: 1,
  name: id,
  members,
  savedMembers: members,
});
const plan = (...columns: PlanColumn[]): Plan => ({ columns, absent: [] });
const names = (found: Plan) => Object.fromEntries(found.columns.map((one) => [one.key, one.members.join()]));

describe("countGroups", () => {
  const about = (size: number, isEven: boolean) => ({ by: "size", count: 0, size, isEven }) as const;
  it("spreads a remainder or leaves it as a separate group", () => {
    expect(countGroups(23, about(3, true))).toBe(7);
    expect(countGroups(23, about(3, false))).toBe(8);
    expect(countGroups(2, about(3, true))).toBe(1);
  });
  it("never exceeds the number of students", () => {
    expect(countGroups(5, { by: "count", count: 8, size: 0, isEven: true })).toBe(5);
    expect(countGroups(0, { by: "count", count: 8, size: 0, isEven: true })).toBe(0);
  });
  it("splits students into groups whose sizes differ by one at most", () => {
    const sizes = splitEvenly(
      Array.from({ length: 23 }, (_, index) => String(index)),
      7,
    ).map((group) => group.length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(23);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBe(1);
    expect(splitEvenly(["a", "b", "c", "d"], 2)).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
  });
});

describe("group names", () => {
  it("count by number or letter", () => {
    expect(renderGroupName("Group #", 12, 3)).toBe("Group 12");
    expect(renderGroupName("Team @", 12, 3)).toBe("Team D");
    expect(renderGroupName("@", 1, 27)).toBe("AB");
    expect(renderGroupName(" ", 4, 0)).toBe("4");
  });
  it("of existing groups stay", () => {
    const found = withScheme(withNewGroups(plan(column("a")), [["x"]], "Group #", 5), "Team @");
    expect(found.columns.map((one) => one.name)).toEqual(["a", "Team A"]);
  });
});

describe("withMoved", () => {
  it("moves students between groups and from none", () => {
    const start = plan(column("a", "ada", "ben"), column("b"));
    expect(names(withMoved(start, ["ada", "ben"], "a", "b"))).toEqual({ a: "", b: "ada,ben" });
    expect(names(withMoved(start, ["cleo"], null, "b"))).toEqual({ a: "ada,ben", b: "cleo" });
    expect(ungroupedStudents(withMoved(start, ["ada"], "a", null), ["ada", "ben", "cleo"])).toEqual(["ada", "cleo"]);
  });
  it("does not duplicate members, and ignores a move to the same column", () => {
    const start = plan(column("a", "ada"), column("b", "ada"));
    expect(names(withMoved(start, ["ada"], "a", "b"))).toEqual({ a: "", b: "ada" });
    expect(withMoved(start, ["ada"], "a", "a")).toBe(start);
  });
  it("excludes absent students", () => {
    const start = withAbsence(withNewGroups(plan(column("a", "ada")), [["ben", "cleo"]], "#", 2), ["cleo"], true);
    expect(names(start)).toEqual({ a: "ada", new2: "ben" });
    expect(studentsToDivide(start, ["ada", "ben", "cleo"], true)).toEqual(["ben"]);
    expect(studentsToDivide(start, ["ada", "ben", "cleo"], false)).toEqual(["ada", "ben"]);
    expect(withMoved(start, ["cleo"], null, "new2").absent).toEqual([]);
  });
});

describe("membershipChanges", () => {
  it("lists moved, added and removed students", () => {
    let found = plan(column("a", "ada", "ben"), column("b", "cleo"));
    found = withMoved(found, ["ada"], "a", "b");
    found = withMoved(found, ["dan"], null, "b");
    found = withMoved(found, ["ben"], "a", null);
    expect(membershipChanges(found)).toEqual([
      { student: "ada", from: "a", to: "b" },
      { student: "dan", from: null, to: "b" },
      { student: "ben", from: "a", to: null },
    ]);
  });
  it("is empty after moving back", () => {
    const start = plan(column("a", "ada"), column("b"));
    const back = withMoved(withMoved(start, ["ada"], "a", "b"), ["ada"], "b", "a");
    expect(hasChanges(back)).toBe(false);
    expect(hasChanges(withEmptyGroup(back, "#", 3))).toBe(true);
  });
  it("includes leaving an existing group for a new one", () => {
    const found = withMoved(withEmptyGroup(plan(column("a", "ada")), "#", 2), ["ada"], "a", "new2");
    expect(membershipChanges(found)).toEqual([{ student: "ada", from: "a", to: null }]);
  });
});

describe("brokenWishes", () => {
  it("reports two students who should be apart, and one who is alone", () => {
    const apart = { kind: "apart", students: ["ada", "ben"] } as const;
    const together = { kind: "together", students: ["ada", "cleo"] } as const;
    expect(brokenWishes(column("a", "ada", "ben"), [apart, together])).toEqual([apart, together]);
    expect(brokenWishes(column("a", "ada", "cleo"), [apart, together])).toEqual([]);
  });
});

describe("rebasePlan", () => {
  it("takes over concurrent changes and keeps local ones", () => {
    const mine = withMoved(plan(column("a", "ada", "ben"), column("b", "cleo")), ["ada"], "a", "b");
    const known = [column("a", "ada", "ben", "dan"), column("b"), column("c", "eve")];
    expect(names(rebasePlan(mine, known))).toEqual({ a: "ben,dan", b: "ada", c: "eve" });
  });
  it("does not restore saved changes", () => {
    const mine = withMoved(plan(column("a", "ada"), column("b")), ["ada"], "a", "b");
    expect(membershipChanges(rebasePlan(mine, [column("a"), column("b", "ada")]))).toEqual([]);
  });
});

describe("history", () => {
  it("undoes and redoes step by step", () => {
    const start = plan(column("a", "ada"), column("b"));
    const next = withMoved(start, ["ada"], "a", "b");
    const done = applyStep({ past: [], now: start, future: [] }, { do: "plan", plan: next });
    const undone = applyStep(done, { do: "undo" });
    expect(undone.now).toEqual(start);
    expect(applyStep(undone, { do: "redo" }).now).toEqual(next);
    expect(applyStep(undone, { do: "undo" })).toBe(undone);
  });
});
