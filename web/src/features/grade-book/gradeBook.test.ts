import { describe, expect, it } from "vitest";

import {
  cellsByTopic,
  cellState,
  matchingStudents,
  tableUrl,
  type GradeBookCell,
  type GradeBookTopic,
} from "./gradeBook";

const cell = (more: Partial<GradeBookCell>): GradeBookCell => ({
  assignmentId: "t",
  groupAssignmentId: "l",
  group: { id: "g", name: "Group 1", groupNumber: 1, displayName: null, courseId: null },
  status: "IN_PROGRESS",
  late: false,
  missing: false,
  grade: null,
  ...more,
});

const student = (firstName: string, lastName: string, cells: GradeBookCell[] = []) => ({
  userId: lastName,
  firstName,
  lastName,
  image: null,
  cells,
  mean: { value: null, percent: null, graded: 0 },
});

describe("grade book", () => {
  it("a cell shows its grade before anything else", () => {
    const grade = { value: "2", points: null, status: "DRAFT" as const, individual: false };
    expect(cellState(undefined)).toBe("none");
    expect(cellState(cell({ grade, missing: true }))).toBe("graded");
    expect(cellState(cell({ missing: true }))).toBe("missing");
    expect(cellState(cell({ status: "RETURNED" }))).toBe("revise");
    expect(cellState(cell({ status: "SUBMITTED" }))).toBe("ungraded");
    expect(cellState(cell({}))).toBe("open");
  });

  it("cells stand under their topics", () => {
    const topics = [{ id: "a" }, { id: "b" }] as GradeBookTopic[];
    const found = cellsByTopic(student("Ben", "Meyer", [cell({ assignmentId: "b" })]), topics);
    expect(found.map((one) => one?.assignmentId)).toEqual([undefined, "b"]);
  });

  it("students are found by parts of both names, without accents", () => {
    const students = [student("Zoë", "Müller"), student("Ben", "Meyer")];
    const found = (search: string) => matchingStudents(students, search).map((one) => one.lastName);
    expect(found("")).toEqual(["Müller", "Meyer"]);
    expect(found("mull zoe")).toEqual(["Müller"]);
    expect(found("meyer x")).toEqual([]);
  });

  it("the German table has semicolons", () => {
    expect(tableUrl("k", undefined, "de")).toBe("/api/classes/k/grade-book.csv?language=de&delimiter=%3B");
    expect(tableUrl("k", "c", "en")).toBe("/api/classes/k/grade-book.csv?language=en&delimiter=%2C&courseId=c");
  });
});
