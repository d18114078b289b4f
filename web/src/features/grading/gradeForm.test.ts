import { describe, expect, it } from "vitest";

import type { Schemas } from "../../api/client";
import {
  initialForm,
  gradeBody,
  EMPTY,
  type GradeForm,
  gradeForm,
  isEmptyGrade,
  isSameForm,
  arePointsValid,
  parsePoints,
} from "./gradeForm";

const grade = (change: Partial<Schemas["Grade"]>): Schemas["Grade"] => ({
  value: null,
  points: null,
  feedback: null,
  status: "DRAFT",
  memberGrades: [],
  rubric: [],
  files: [],
  gradedById: "t",
  gradedAt: "2026-11-20T10:00:00Z",
  publishedAt: null,
  ...change,
});
const form = (change: Partial<GradeForm>): GradeForm => ({ ...EMPTY, ...change });

describe("points", () => {
  it("are parsed with point or comma", () => {
    expect([parsePoints("12.5"), parsePoints(" 12,5 "), parsePoints(""), parsePoints("0")]).toEqual([
      12.5,
      12.5,
      null,
      0,
    ]);
  });
  it("reject other input", () => {
    expect(["-1", "1e3", "twelve", "1.2.3", "100001", "."].map(parsePoints)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
  it("stay within the maximum of the topic", () => {
    expect([
      arePointsValid("15", 15),
      arePointsValid("15,5", 15),
      arePointsValid("99", null),
      arePointsValid("", 15),
    ]).toEqual([true, false, true, true]);
  });
});

describe("request body", () => {
  it("contains null for cleared fields, and omits members with the group's grade", () => {
    const typed = form({
      value: " B+ ",
      points: "",
      members: { ana: { ...EMPTY, points: "3" }, ben: { ...EMPTY, feedback: "  " } },
    });
    expect(gradeBody(typed, 15)).toEqual({
      value: "B+",
      points: null,
      feedback: null,
      rubric: [],
      memberGrades: [{ userId: "ana", value: null, points: 3, feedback: null }],
    });
  });
  it("is undefined while a number is invalid", () => {
    expect(gradeBody(form({ points: "16" }), 15)).toBeUndefined();
    expect(gradeBody(form({ members: { ana: { ...EMPTY, points: "x" } } }), 15)).toBeUndefined();
  });
  it("round-trips through the service", () => {
    const given = grade({
      value: "A",
      points: 12.5,
      memberGrades: [{ userId: "ana", points: 3, value: null, feedback: null }],
    });
    expect(
      isSameForm(gradeForm(given), form({ value: "A", points: "12,50", members: { ana: { ...EMPTY, points: "3" } } })),
    ).toBe(true);
    expect(isSameForm(gradeForm(given), form({ value: "A", points: "12" }))).toBe(false);
    expect(isEmptyGrade(form({ members: { ana: EMPTY } }))).toBe(true);
  });
});

describe("initial form", () => {
  const kept = form({ feedback: "kept here" });
  it("contains unsaved text", () => {
    expect(
      initialForm("s1", grade({ feedback: "old" }), { submissionId: "s1", isUnsaved: true, form: kept }).feedback,
    ).toBe("kept here");
  });
  it("contains the saved grade when nothing is unsaved", () => {
    expect(
      initialForm("s1", grade({ feedback: "newer, by a colleague" }), {
        submissionId: "s1",
        isUnsaved: false,
        form: kept,
      }).feedback,
    ).toBe("newer, by a colleague");
  });
  it("contains the text of the previous submission after a resubmission", () => {
    expect(initialForm("s2", null, { submissionId: "s1", isUnsaved: false, form: kept }).feedback).toBe("kept here");
    expect(
      initialForm("s2", grade({ feedback: "of this one" }), { submissionId: "s1", isUnsaved: true, form: kept })
        .feedback,
    ).toBe("of this one");
  });
  it("is empty otherwise", () => {
    expect(initialForm("s1", null, null)).toEqual(EMPTY);
  });
});

it("sends filled criteria in a fixed order, and nothing for empty ones", () => {
  const mark = { levelId: "good", points: "2,5", comment: " Well. " };
  const rubric = { b: mark, a: { ...mark, points: "" }, c: { levelId: "", points: "4", comment: " " } };
  expect(gradeBody({ ...EMPTY, rubric }, null)?.rubric).toEqual([
    { criterionId: "a", levelId: "good", points: null, comment: "Well." },
    { criterionId: "b", levelId: "good", points: 2.5, comment: "Well." },
  ]);
  expect(gradeBody({ ...EMPTY, rubric: { a: { ...mark, points: "x" } } }, null)).toBeUndefined();
  expect(isEmptyGrade({ ...EMPTY, rubric })).toBe(false);
});
