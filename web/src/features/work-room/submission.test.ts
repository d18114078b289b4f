import { describe, expect, it } from "vitest";

import { defaultDocuments, defaultTopic, findRelinked } from "./submission";
import type { Document } from "./workRoom";

const topic = (assignmentId: string, isPreselected = false) => ({ assignmentId, isPreselected });
const draft = (id: string, assignmentId: string | null) => ({ id, assignmentId }) as unknown as Document;
const TOPICS = [topic("near", true), topic("middle"), topic("far")];

describe("the topic of a submission", () => {
  it("is that of the open document before all others", () => {
    expect(defaultTopic(TOPICS, "far", "middle")).toBe("far");
  });
  it("is the one on the screen where the document has no topic, or one that is not active", () => {
    expect(defaultTopic(TOPICS, null, "middle")).toBe("middle");
    expect(defaultTopic(TOPICS, "finished", "middle")).toBe("middle");
  });
  it("is the only active one, or the one with the nearest deadline", () => {
    expect(defaultTopic([topic("far")], null, "finished")).toBe("far");
    expect(defaultTopic(TOPICS, undefined, "finished")).toBe("near");
    expect(defaultTopic([], null, "near")).toBeUndefined();
  });
});

describe("the documents of a submission", () => {
  const drafts = [draft("one", "near"), draft("two", "far"), draft("three", null)];
  it("follow the topic", () => {
    expect(defaultDocuments(drafts, "near", undefined)).toEqual(["one"]);
    expect(defaultDocuments(drafts, "far", undefined)).toEqual(["two"]);
    expect(defaultDocuments(drafts, "middle", undefined)).toEqual(["three"]);
  });
  it("are the open one alone, unless it belongs to another topic", () => {
    expect(defaultDocuments(drafts, "far", "three")).toEqual(["three"]);
    expect(defaultDocuments(drafts, "far", "one")).toEqual(["two"]);
  });
  it("are none where a choice would take a document from another topic", () => {
    expect(defaultDocuments([draft("one", "near")], "far", undefined)).toEqual([]);
  });
  it("are named when they would leave another topic", () => {
    expect(findRelinked(drafts, ["one", "three"], "far").map((one) => one.id)).toEqual(["one"]);
    expect(findRelinked(drafts, ["one"], "near")).toEqual([]);
  });
});
