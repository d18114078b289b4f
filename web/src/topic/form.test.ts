import { describe, expect, it } from "vitest";

import { blank, draftOf, edited, type Form, isEmpty, lacks, merged, newOf, ownOf, remaining, sharedOf } from "./form";

const base: Form = { ...blank("c"), title: "Rivers", deadline: "2026-11-22T10:00:00Z", texts: { one: "Rhine", two: "" } };

describe("edits", () => {
  it("are what differs, and nothing after a way there and back", () => {
    const there = edited(base, {}, { title: "Lakes" });
    expect(there).toEqual({ title: "Lakes" });
    expect(isEmpty(edited(base, there, { title: "Rivers" }))).toBe(true);
  });
  it("of one group's text leave the others alone", () => {
    const edits = edited(base, {}, { texts: { two: "Elbe" } });
    expect(merged(base, edits).texts).toEqual({ one: "Rhine", two: "Elbe" });
    expect(edited(base, edits, { texts: { two: "" } })).toEqual({});
    expect(ownOf(edits)).toEqual({ groups: [{ groupId: "two", descriptionOverride: "Elbe" }] });
  });
  it("follow the service where nothing was changed, and end once they are saved", () => {
    const edits = edited(base, {}, { title: "Lakes", maxPoints: 10 });
    const told = { ...base, title: "Lakes", deadline: "2026-11-23T10:00:00Z" };
    expect(merged(told, edits).deadline).toBe(told.deadline);
    expect(remaining(told, edits)).toEqual({ maxPoints: 10 });
  });
});

describe("what is sent", () => {
  it("goes to all groups, or to the topic and single groups", () => {
    const edits = edited(base, {}, { title: " Lakes ", begin: "now", isShared: false, gradeScale: " ", texts: { one: "" } });
    expect(sharedOf(edits)).toEqual({ title: "Lakes", startDate: null });
    expect(ownOf({ ...edits, gradeScale: " " })).toEqual({ isShared: false, gradeScale: null, groups: [{ groupId: "one", descriptionOverride: null }] });
    expect(sharedOf({ begin: "later", startDate: "2026-12-01T07:00:00Z" })).toEqual({ startDate: "2026-12-01T07:00:00Z" });
  });
  it("of a new topic names its groups with their own texts", () => {
    const sent = newOf({ ...base, maxPoints: 20 }, "class", ["one", "two"]);
    expect(sent.groups).toEqual([{ groupId: "one", descriptionOverride: "Rhine" }, { groupId: "two" }]);
    expect(sent).toMatchObject({ classId: "class", courseId: "c", maxPoints: 20 });
    expect("gradeScale" in sent).toBe(false);
  });
  it("lacks a title and a deadline at first", () => {
    expect(lacks(blank(null))).toEqual(["title", "deadline"]);
    expect(lacks({ ...base, begin: "later" })).toEqual(["startDate"]);
  });
});

describe("a draft", () => {
  it("comes back as it was", () => {
    const edits = edited(base, {}, { title: "Lakes", maxPoints: 5, texts: { two: "Elbe" } });
    expect(draftOf(JSON.stringify(edits))).toEqual(edits);
  });
  it("of something else is none", () => {
    expect(draftOf("")).toEqual({});
    expect(draftOf("{")).toEqual({});
    expect(draftOf('{"title":7,"texts":null,"else":1}')).toEqual({});
  });
});
