import { describe, expect, it } from "vitest";

import { findReplacementGroup } from "./replacementGroup";

const group = (id: string, courseId: string | null, ...topics: string[]) => ({ id, classId: "8b", courseId, groupAssignments: topics.map((assignmentId) => ({ assignmentId })) });
const left = { groupId: "rivers", classId: "8b", courseId: "geography", topicIds: ["landforms"] };

describe("placeNow", () => {
  it("prefers the group that works on the same topic", () => {
    expect(findReplacementGroup([group("a", "geography"), group("b", "maths", "landforms")], left)?.id).toBe("b");
  });
  it("else takes the group of the same course", () => {
    expect(findReplacementGroup([group("a", "geography"), group("b", "maths", "sets")], left)?.id).toBe("a");
  });
  it("does not take a group of another course for the one that was left", () => {
    expect(findReplacementGroup([group("b", "maths", "sets")], left)).toBeUndefined();
  });
  it("takes the only one for a group that was never seen", () => {
    expect(findReplacementGroup([group("b", "maths")], { groupId: "rivers", topicIds: [] })?.id).toBe("b");
  });
  it("leaves the choice where several fit, and says nothing where none does", () => {
    expect(findReplacementGroup([group("a", "geography", "landforms"), group("b", "geography", "landforms")], left)).toBeUndefined();
    expect(findReplacementGroup([group("b", "maths"), group("c", "music")], left)).toBeUndefined();
    expect(findReplacementGroup([], left)).toBeUndefined();
  });
  it("never names the group that was left", () => {
    expect(findReplacementGroup([group("rivers", "geography", "landforms")], left)).toBeUndefined();
  });
});
