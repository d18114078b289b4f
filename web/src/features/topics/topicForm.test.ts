import { describe, expect, it } from "vitest";

import {
  emptyForm,
  parseDraft,
  withEdit,
  type TopicForm,
  hasNoEdits,
  findMissingFields,
  applyEdits,
  newTopicBody,
  ownChanges,
  remainingEdits,
  sharedChanges,
} from "./topicForm";

const base: TopicForm = {
  ...emptyForm("c"),
  title: "Rivers",
  deadline: "2026-11-22T10:00:00Z",
  texts: { one: "Rhine", two: "" },
};

describe("edits", () => {
  it("contain differences only, and nothing after reverting", () => {
    const there = withEdit(base, {}, { title: "Lakes" });
    expect(there).toEqual({ title: "Lakes" });
    expect(hasNoEdits(withEdit(base, there, { title: "Rivers" }))).toBe(true);
  });
  it("of one group's text do not affect other groups", () => {
    const edits = withEdit(base, {}, { texts: { two: "Elbe" } });
    expect(applyEdits(base, edits).texts).toEqual({ one: "Rhine", two: "Elbe" });
    expect(withEdit(base, edits, { texts: { two: "" } })).toEqual({});
    expect(ownChanges(edits)).toEqual({ groups: [{ groupId: "two", descriptionOverride: "Elbe" }] });
  });
  it("of where one group's text is shown are an edit of their own", () => {
    const edits = withEdit(base, {}, { added: { one: true } });
    expect(edits).toEqual({ added: { one: true } });
    expect(ownChanges(edits)).toEqual({ groups: [{ groupId: "one", includesSharedText: true }] });
    expect(withEdit(base, edits, { added: { one: false } })).toEqual({});
    const sent = newTopicBody(applyEdits(base, edits), "class", ["one"]);
    expect(sent.groups).toEqual([{ groupId: "one", descriptionOverride: "Rhine", includesSharedText: true }]);
    expect(parseDraft(JSON.stringify(edits))).toEqual(edits);
  });
  it("follow the service where unedited, and end once saved", () => {
    const edits = withEdit(base, {}, { title: "Lakes", maxPoints: 10 });
    const saved = { ...base, title: "Lakes", deadline: "2026-11-23T10:00:00Z" };
    expect(applyEdits(saved, edits).deadline).toBe(saved.deadline);
    expect(remainingEdits(saved, edits)).toEqual({ maxPoints: 10 });
  });
});

describe("request body", () => {
  it("is split into shared changes, topic changes and group changes", () => {
    const edits = withEdit(
      base,
      {},
      { title: " Lakes ", begin: "now", isShared: false, gradeScale: " ", texts: { one: "" } },
    );
    expect(sharedChanges(edits)).toEqual({ title: "Lakes", startDate: null });
    expect(ownChanges({ ...edits, gradeScale: " " })).toEqual({
      isShared: false,
      gradeScale: null,
      groups: [{ groupId: "one", descriptionOverride: null }],
    });
    expect(ownChanges({ workingTime: "45 min" })).toEqual({ workingTime: "45 min" });
    expect(ownChanges({ workingTime: " " })).toEqual({ workingTime: null });
    expect(sharedChanges({ begin: "later", startDate: "2026-12-01T07:00:00Z" })).toEqual({
      startDate: "2026-12-01T07:00:00Z",
    });
  });
  it("of a new topic contains its groups with their own texts", () => {
    const sent = newTopicBody({ ...base, maxPoints: 20 }, "class", ["one", "two"]);
    expect(sent.groups).toEqual([{ groupId: "one", descriptionOverride: "Rhine" }, { groupId: "two" }]);
    expect(sent).toMatchObject({ classId: "class", courseId: "c", maxPoints: 20 });
    expect("gradeScale" in sent).toBe(false);
    expect("workingTime" in sent).toBe(false);
    expect(newTopicBody({ ...base, workingTime: " 2 lessons " }, "class", [])).toMatchObject({
      workingTime: "2 lessons",
    });
  });
  it("requires a title and a deadline", () => {
    expect(findMissingFields(emptyForm(null))).toEqual(["title", "deadline"]);
    expect(findMissingFields({ ...base, begin: "later" })).toEqual(["startDate"]);
  });
});

describe("publication", () => {
  it("is sent with a new topic unless it is published at once", () => {
    expect(newTopicBody(base, "class", [])).not.toHaveProperty("isDraft");
    expect(newTopicBody({ ...base, publish: "draft" }, "class", [])).toMatchObject({ isDraft: true });
    const publishAt = "2026-11-20T07:00:00Z";
    expect(newTopicBody({ ...base, publish: "later", publishAt }, "class", [])).toMatchObject({ publishAt });
  });
  it("is edited as a draft, at once or from a time", () => {
    expect(ownChanges({ publish: "draft", publishAt: null })).toEqual({ isDraft: true });
    expect(ownChanges({ publish: "now" })).toEqual({ isDraft: false, publishAt: null });
    const publishAt = "2026-11-20T07:00:00Z";
    expect(ownChanges({ publish: "later", publishAt })).toEqual({ publishAt });
    expect(ownChanges({ publishAt })).toEqual({ publishAt });
    expect(ownChanges({ title: "Lakes" })).toEqual({});
  });
  it("at a time requires the time", () => {
    expect(findMissingFields({ ...base, publish: "later" })).toEqual(["publishAt"]);
  });
});

describe("a draft", () => {
  it("round-trips", () => {
    const edits = withEdit(base, {}, { title: "Lakes", maxPoints: 5, texts: { two: "Elbe" } });
    expect(parseDraft(JSON.stringify(edits))).toEqual(edits);
  });
  it("of another shape is ignored", () => {
    expect(parseDraft("")).toEqual({});
    expect(parseDraft("{")).toEqual({});
    expect(parseDraft('{"title":7,"texts":null,"else":1}')).toEqual({});
  });
});
