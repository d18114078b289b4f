import { describe, expect, it } from "vitest";

import { broken, changes, free, howMany, inOrder, isChanged, marked, moved, named, type Place, type Plan, rebased, renamed, stepped, toDivide, withNew, withOne } from "./divide";

const place = (id: string, ...members: string[]): Place => ({ key: id, groupId: id, number: 1, name: id, members, was: members });
const plan = (...places: Place[]): Plan => ({ places, absent: [] });
const names = (found: Plan) => Object.fromEntries(found.places.map((one) => [one.key, one.members.join()]));

describe("how many groups", () => {
  const about = (size: number, isEven: boolean) => ({ by: "size", count: 0, size, isEven }) as const;
  it("spreads a rest over the others, or leaves it a group of its own", () => {
    expect(howMany(23, about(3, true))).toBe(7);
    expect(howMany(23, about(3, false))).toBe(8);
    expect(howMany(2, about(3, true))).toBe(1);
  });
  it("is never more than there are students", () => {
    expect(howMany(5, { by: "count", count: 8, size: 0, isEven: true })).toBe(5);
    expect(howMany(0, { by: "count", count: 8, size: 0, isEven: true })).toBe(0);
  });
  it("cuts an order into groups that differ by one at most", () => {
    const sizes = inOrder(Array.from({ length: 23 }, (_, index) => String(index)), 7).map((group) => group.length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(23);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBe(1);
    expect(inOrder(["a", "b", "c", "d"], 2)).toEqual([["a", "b"], ["c", "d"]]);
  });
});

describe("names", () => {
  it("count by number or by letter", () => {
    expect(named("Group #", 12, 3)).toBe("Group 12");
    expect(named("Team @", 12, 3)).toBe("Team D");
    expect(named("@", 1, 27)).toBe("AB");
    expect(named(" ", 4, 0)).toBe("4");
  });
  it("of groups that exist stay", () => {
    const found = renamed(withNew(plan(place("a")), [["x"]], "Group #", 5), "Team @");
    expect(found.places.map((one) => one.name)).toEqual(["a", "Team A"]);
  });
});

describe("moving", () => {
  it("takes everybody from one group to another, and from none", () => {
    const start = plan(place("a", "ada", "ben"), place("b"));
    expect(names(moved(start, ["ada", "ben"], "a", "b"))).toEqual({ a: "", b: "ada,ben" });
    expect(names(moved(start, ["cleo"], null, "b"))).toEqual({ a: "ada,ben", b: "cleo" });
    expect(free(moved(start, ["ada"], "a", null), ["ada", "ben", "cleo"])).toEqual(["ada", "cleo"]);
  });
  it("puts nobody into a group twice, and nowhere when it is the same place", () => {
    const start = plan(place("a", "ada"), place("b", "ada"));
    expect(names(moved(start, ["ada"], "a", "b"))).toEqual({ a: "", b: "ada" });
    expect(moved(start, ["ada"], "a", "a")).toBe(start);
  });
  it("leaves out who is not here", () => {
    const start = marked(withNew(plan(place("a", "ada")), [["ben", "cleo"]], "#", 2), ["cleo"], true);
    expect(names(start)).toEqual({ a: "ada", new2: "ben" });
    expect(toDivide(start, ["ada", "ben", "cleo"], true)).toEqual(["ben"]);
    expect(toDivide(start, ["ada", "ben", "cleo"], false)).toEqual(["ada", "ben"]);
    expect(moved(start, ["cleo"], null, "new2").absent).toEqual([]);
  });
});

describe("what is saved", () => {
  it("is a move, somebody who comes, somebody who goes", () => {
    let found = plan(place("a", "ada", "ben"), place("b", "cleo"));
    found = moved(found, ["ada"], "a", "b");
    found = moved(found, ["dan"], null, "b");
    found = moved(found, ["ben"], "a", null);
    expect(changes(found)).toEqual([
      { student: "ada", from: "a", to: "b" },
      { student: "dan", from: null, to: "b" },
      { student: "ben", from: "a", to: null },
    ]);
  });
  it("is nothing after a way there and back", () => {
    const start = plan(place("a", "ada"), place("b"));
    const back = moved(moved(start, ["ada"], "a", "b"), ["ada"], "b", "a");
    expect(isChanged(back)).toBe(false);
    expect(isChanged(withOne(back, "#", 3))).toBe(true);
  });
  it("leaves an existing group for one that is to be made", () => {
    const found = moved(withOne(plan(place("a", "ada")), "#", 2), ["ada"], "a", "new2");
    expect(changes(found)).toEqual([{ student: "ada", from: "a", to: null }]);
  });
});

describe("wishes", () => {
  it("are broken by two who should be apart, and by one who is alone", () => {
    const apart = { kind: "apart", students: ["ada", "ben"] } as const;
    const together = { kind: "together", students: ["ada", "cleo"] } as const;
    expect(broken(place("a", "ada", "ben"), [apart, together])).toEqual([apart, together]);
    expect(broken(place("a", "ada", "cleo"), [apart, together])).toEqual([]);
  });
});

describe("what others do meanwhile", () => {
  it("is taken over, and what was done here stays done", () => {
    const mine = moved(plan(place("a", "ada", "ben"), place("b", "cleo")), ["ada"], "a", "b");
    const known = [place("a", "ada", "ben", "dan"), place("b"), place("c", "eve")];
    expect(names(rebased(mine, known))).toEqual({ a: "ben,dan", b: "ada", c: "eve" });
  });
  it("does not bring back what was saved", () => {
    const mine = moved(plan(place("a", "ada"), place("b")), ["ada"], "a", "b");
    expect(changes(rebased(mine, [place("a"), place("b", "ada")]))).toEqual([]);
  });
});

describe("the way back", () => {
  it("goes step by step, and forward again", () => {
    const start = plan(place("a", "ada"), place("b"));
    const next = moved(start, ["ada"], "a", "b");
    const done = stepped({ past: [], now: start, future: [] }, { do: "plan", plan: next });
    const undone = stepped(done, { do: "undo" });
    expect(undone.now).toEqual(start);
    expect(stepped(undone, { do: "redo" }).now).toEqual(next);
    expect(stepped(undone, { do: "undo" })).toBe(undone);
  });
});
