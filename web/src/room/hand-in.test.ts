import { describe, expect, it } from "vitest";

import { likelyDocuments, likelyTopic, relinked } from "./hand-in";
import type { Document } from "./room";

const topic = (assignmentId: string, isPreselected = false) => ({ assignmentId, isPreselected });
const draft = (id: string, assignmentId: string | null) => ({ id, assignmentId }) as unknown as Document;
const TOPICS = [topic("near", true), topic("middle"), topic("far")];

describe("the topic of a submission", () => {
  it("is that of the open document before all others", () => {
    expect(likelyTopic(TOPICS, "far", "middle")).toBe("far");
  });
  it("is the one on the screen where the document has no topic, or one that is not active", () => {
    expect(likelyTopic(TOPICS, null, "middle")).toBe("middle");
    expect(likelyTopic(TOPICS, "finished", "middle")).toBe("middle");
  });
  it("is the only active one, or the one with the nearest deadline", () => {
    expect(likelyTopic([topic("far")], null, "finished")).toBe("far");
    expect(likelyTopic(TOPICS, undefined, "finished")).toBe("near");
    expect(likelyTopic([], null, "near")).toBeUndefined();
  });
});

describe("the documents of a submission", () => {
  const drafts = [draft("one", "near"), draft("two", "far"), draft("three", null)];
  it("follow the topic", () => {
    expect(likelyDocuments(drafts, "near", undefined)).toEqual(["one"]);
    expect(likelyDocuments(drafts, "far", undefined)).toEqual(["two"]);
    expect(likelyDocuments(drafts, "middle", undefined)).toEqual(["three"]);
  });
  it("are the open one alone, unless it belongs to another topic", () => {
    expect(likelyDocuments(drafts, "far", "three")).toEqual(["three"]);
    expect(likelyDocuments(drafts, "far", "one")).toEqual(["two"]);
  });
  it("are none where a choice would take a document from another topic", () => {
    expect(likelyDocuments([draft("one", "near")], "far", undefined)).toEqual([]);
  });
  it("are named when they would leave another topic", () => {
    expect(relinked(drafts, ["one", "three"], "far").map((one) => one.id)).toEqual(["one"]);
    expect(relinked(drafts, ["one"], "near")).toEqual([]);
  });
});
