import { describe, expect, it } from "vitest";

import { sortTopics, lateDeadline, splitDocuments, type Document, type GroupTopic } from "./workRoom";
import { partial } from "../../testing/partial";

const topic = (
  id: string,
  deadline: string,
  status: GroupTopic["assignment"]["status"] = "ACTIVE",
  lateAllowedUntil: string | null = null,
) => partial<GroupTopic>({ assignmentId: id, assignment: { id, deadline, status }, lateAllowedUntil });
const document = (title: string, assignmentId: string | null) => partial<Document>({ title, assignmentId });

describe("work room", () => {
  it("sorts topics by deadline, finished ones last", () => {
    const topics = [topic("over", "2026-01-01", "FINISHED"), topic("late", "2026-03-01"), topic("soon", "2026-02-01")];
    expect(sortTopics(topics).map((one) => one.assignmentId)).toEqual(["soon", "late", "over"]);
  });
  it("separates documents of other topics", () => {
    const { here, elsewhere } = splitDocuments(
      [document("Page 10", "a"), document("Page 9", null), document("Other", "b")],
      topic("a", "2026-01-01"),
    );
    expect(here.map((one) => one.title)).toEqual(["Page 9", "Page 10"]);
    expect(elsewhere.map((one) => one.title)).toEqual(["Other"]);
  });
  it("counts late from the group's own extension", () => {
    expect(lateDeadline(topic("a", "2026-01-01T10:00:00Z"))).toBe(Date.parse("2026-01-01T10:00:00Z"));
    expect(lateDeadline(topic("a", "2026-01-01T10:00:00Z", "ACTIVE", "2026-01-02T10:00:00Z"))).toBe(
      Date.parse("2026-01-02T10:00:00Z"),
    );
  });
});
