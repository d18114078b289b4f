import { describe, expect, it } from "vitest";

import { findReplacementGroup } from "./replacementGroup";

const group = (id: string, courseId: string | null, ...topics: string[]) => ({
  id,
  classId: "8b",
  courseId,
  groupAssignments: topics.map((assignmentId) => ({ assignmentId })),
});
const left = { groupId: "rivers", classId: "8b", courseId: "geography", topicIds: ["landforms"] };

describe("placeNow", () => {
  it("prefers the group with the same topic", () => {
    expect(findReplacementGroup([group("a", "geography"), group("b", "maths", "landforms")], left)?.id).toBe("b");
  });
  it("falls back to the group of the same course", () => {
    expect(findReplacementGroup([group("a", "geography"), group("b", "maths", "sets")], left)?.id).toBe("a");
  });
  it("does not choose a group of another course", () => {
    expect(findReplacementGroup([group("b", "maths", "sets")], left)).toBeUndefined();
  });
  it("chooses the only group when the former one is unknown", () => {
    expect(findReplacementGroup([group("b", "maths")], { groupId: "rivers", topicIds: [] })?.id).toBe("b");
  });
  it("returns nothing when several groups or none match", () => {
    expect(
      findReplacementGroup([group("a", "geography", "landforms"), group("b", "geography", "landforms")], left),
    ).toBeUndefined();
    expect(findReplacementGroup([group("b", "maths"), group("c", "music")], left)).toBeUndefined();
    expect(findReplacementGroup([], left)).toBeUndefined();
  });
  it("never returns the former group", () => {
    expect(findReplacementGroup([group("rivers", "geography", "landforms")], left)).toBeUndefined();
  });
});
