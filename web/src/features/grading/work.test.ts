import { describe, expect, it } from "vitest";

import type { GroupTopic, WorkRoom } from "../work-room/workRoom";
import {
  type Assignment,
  lateness,
  findNeighbours,
  groupDeadline,
  listViewedDocuments,
  listScaleValues,
  revisionDeadline,
} from "./work";
import { partial } from "../../testing/partial";

describe("grading scale", () => {
  it("is a select when it lists its values", () => {
    expect(listScaleValues("A, B, C")).toEqual(["A", "B", "C"]);
    expect(listScaleValues("pass/fail")).toEqual(["pass", "fail"]);
    expect(listScaleValues("1;2;3;2")).toEqual(["1", "2", "3"]);
  });
  it("is a text field when it is a sentence, a range or empty", () => {
    expect(
      [null, "1-6", "A – F", "1-6, half steps", "as agreed", "very good, good"].map((scale) => listScaleValues(scale)),
    ).toEqual([[], [], [], [], [], []]);
  });
});

describe("groups", () => {
  const group = (id: string, groupNumber: number) => ({ groupId: id, group: { id, groupNumber, name: id } });
  const found = partial<Assignment>({ groupAssignments: [group("c", 10), group("a", 1), group("b", 2)] });
  it("are ordered by number", () => {
    const row = findNeighbours(found, "b");
    expect([row.before?.groupId, row.here?.groupId, row.after?.groupId]).toEqual(["a", "b", "c"]);
    expect(findNeighbours(found, "c").after).toBeUndefined();
    expect(findNeighbours(found, "a").before).toBeUndefined();
  });
  it("have no neighbours when not assigned to the topic", () => {
    expect(findNeighbours(found, "x")).toMatchObject({ before: undefined, here: undefined, after: undefined });
  });
});

describe("viewed documents", () => {
  const document = (id: string) => ({ id, title: id, fileExtension: "docx" as const, assignmentId: "t" });
  const copy = (id: string, documentId: string | null) => ({
    id,
    documentId,
    title: `${id} then`,
    fileExtension: "docx" as const,
  });
  const room = partial<WorkRoom>({ documents: [document("draft"), document("report")] });
  it("list submitted documents first, including deleted ones", () => {
    const work = partial<GroupTopic>({
      assignmentId: "t",
      assignment: { status: "ACTIVE" },
      currentSubmission: { documents: [copy("c1", "report"), copy("c2", null)] },
    });
    expect(
      listViewedDocuments(room, work).map(({ id, title, document: live, copy: handed }) => [
        id,
        title,
        live !== undefined,
        handed !== undefined,
      ]),
    ).toEqual([
      ["report", "c1 then.docx", true, true],
      ["c2", "c2 then.docx", false, true],
      ["draft", "draft.docx", true, false],
    ]);
  });
});

it("formats lateness in a suitable unit", () => {
  expect([20, 600, 7_200, 200_000].map(lateness)).toEqual([
    { unit: "minutes", count: 1 },
    { unit: "minutes", count: 10 },
    { unit: "hours", count: 2 },
    { unit: "days", count: 2 },
  ]);
});

describe("deadline of a revision", () => {
  const now = Date.parse("2026-11-26T10:17:30Z");
  it("is a week from now when the deadline has passed", () => {
    expect(revisionDeadline("2026-11-26T10:00:00Z", now)).toBe("2026-12-03T10:00:00.000Z");
  });
  it("stays while the deadline is ahead", () => {
    expect(revisionDeadline("2026-11-27T10:00:00Z", now)).toBeNull();
  });
  it("compares with the extended deadline of the group", () => {
    const topic = { deadline: "2026-11-20T10:00:00Z" };
    expect(groupDeadline(topic, { lateAllowedUntil: "2026-11-27T10:00:00Z" })).toBe("2026-11-27T10:00:00Z");
    expect(groupDeadline(topic, { lateAllowedUntil: "2026-11-19T10:00:00Z" })).toBe(topic.deadline);
    expect(groupDeadline(topic, { lateAllowedUntil: null })).toBe(topic.deadline);
  });
});
