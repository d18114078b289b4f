import { describe, expect, it } from "vitest";

import { defaultDocuments, defaultTopic, findRelinked } from "./submission";
import type { Document } from "./workRoom";
import { partial } from "../../testing/partial";

const topic = (assignmentId: string, isPreselected = false) => ({ assignmentId, isPreselected });
const draft = (id: string, assignmentId: string | null) => partial<Document>({ id, assignmentId });
const TOPICS = [topic("near", true), topic("middle"), topic("far")];

describe("defaultTopic", () => {
  it("prefers the topic of the open document", () => {
    expect(defaultTopic(TOPICS, "far", "middle")).toBe("far");
  });
  it("is the shown topic when the document has none or an inactive one", () => {
    expect(defaultTopic(TOPICS, null, "middle")).toBe("middle");
    expect(defaultTopic(TOPICS, "finished", "middle")).toBe("middle");
  });
  it("is the only active topic, or the one with the next deadline", () => {
    expect(defaultTopic([topic("far")], null, "finished")).toBe("far");
    expect(defaultTopic(TOPICS, undefined, "finished")).toBe("near");
    expect(defaultTopic([], null, "near")).toBeUndefined();
  });
});

describe("defaultDocuments", () => {
  const drafts = [draft("one", "near"), draft("two", "far"), draft("three", null)];
  it("follow the topic", () => {
    expect(defaultDocuments(drafts, "near", undefined)).toEqual(["one"]);
    expect(defaultDocuments(drafts, "far", undefined)).toEqual(["two"]);
    expect(defaultDocuments(drafts, "middle", undefined)).toEqual(["three"]);
  });
  it("are the open document alone, unless it belongs to another topic", () => {
    expect(defaultDocuments(drafts, "far", "three")).toEqual(["three"]);
    expect(defaultDocuments(drafts, "far", "one")).toEqual(["two"]);
  });
  it("are empty when a default would take a document from another topic", () => {
    expect(defaultDocuments([draft("one", "near")], "far", undefined)).toEqual([]);
  });
  it("are reported when they would leave another topic", () => {
    expect(findRelinked(drafts, ["one", "three"], "far").map((one) => one.id)).toEqual(["one"]);
    expect(findRelinked(drafts, ["one"], "near")).toEqual([]);
  });
});
