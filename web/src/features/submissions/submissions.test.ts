import { describe, expect, it } from "vitest";

import type { Schemas } from "../../api/client";
import { compareNumbered } from "../../i18n/names";
import { canBeRecorded, countDraftGrades, type Stats, type SubmissionRow, countShares, SORTS } from "./submissions";
import { partial, type DeepPartial } from "../../testing/partial";
import { parseSubmissionFilters, effectiveState } from "./filters";

describe("filters from the URL", () => {
  it("ignore invalid values", () => {
    expect(
      parseSubmissionFilters({ classId: "c", status: "LATE", sort: "grade", down: true, search: 8, page: 2 }),
    ).toEqual({ classId: "c", status: "LATE", sort: "grade", down: true, search: "8" });
    expect(parseSubmissionFilters({ status: "GONE", sort: "age", down: true, courseId: " ", search: ["x"] })).toEqual(
      {},
    );
  });
  it("show ungraded works, but all works of a single topic", () => {
    expect([{}, { assignmentId: "t" }, { assignmentId: "t", status: "LATE" as const }].map(effectiveState)).toEqual([
      "UNGRADED",
      "ALL",
      "LATE",
    ]);
  });
});

it("counts each group of a topic once", () => {
  const stats = partial<Stats>({
    groups: 8,
    notStarted: 1,
    inProgress: 2,
    returned: 1,
    submitted: 3,
    graded: 1,
    late: 2,
  });
  expect(countShares(stats)).toEqual({ graded: 1, submitted: 3, missing: 4 });
});

it("counts non-empty unpublished grades", () => {
  const work = (grade: DeepPartial<Schemas["Grade"]> | null): DeepPartial<Schemas["GroupAssignment"]> => ({
    currentSubmission: grade && {
      grade: { value: null, points: null, feedback: null, memberGrades: [], status: "DRAFT", ...grade },
    },
  });
  const topic = partial<Schemas["Assignment"]>({
    groupAssignments: [
      work(null),
      work({}),
      work({ value: "A" }),
      work({ memberGrades: [{}] }),
      work({ value: "A", status: "PUBLISHED" }),
    ],
  });
  expect(countDraftGrades(topic)).toBe(2);
});

it("sorts works without a grade last", () => {
  const row = (grade: DeepPartial<Schemas["Grade"]> | null) =>
    partial<SubmissionRow>({ currentSubmission: grade && { grade } });
  const keys = [row(null), row({ points: 9, value: null }), row({ points: null, value: "Z" })].map((one) =>
    String(SORTS.grade(one)),
  );
  expect(keys.toSorted((one, other) => compareNumbered(one, other)).at(-1)).toBe(keys[0]);
});

it("offers to record work of groups that see the topic and have not submitted", () => {
  const at = (status: "NOT_STARTED" | "SUBMITTED", link = {}) =>
    canBeRecorded({ isDraft: false, publishAt: null }, { status, ...link }, 1_000);
  expect(at("NOT_STARTED")).toBe(true);
  expect(at("SUBMITTED")).toBe(false);
  expect(at("NOT_STARTED", { isDraft: true })).toBe(false);
  expect(canBeRecorded({ isDraft: true }, { status: "RETURNED" }, 1_000)).toBe(false);
});
