import { describe, expect, it } from "vitest";

import { listFirstSteps } from "./firstStepsOrder";

const stats = (student: number, teacher: number, classes: number, courses: number) => ({
  users: { owner: 1, admin: 0, teacher, student },
  classes,
  courses,
});
const open = (...numbers: Parameters<typeof stats>) =>
  listFirstSteps(stats(...numbers), 0)
    .filter((step) => !step.isDone)
    .map((step) => step.id);

describe("first steps of a school", () => {
  it("begin with people, subjects, classes and courses", () => {
    expect(open(0, 0, 0, 0)).toEqual(["people", "subjects", "classes", "courses"]);
  });
  it("need both students and teachers", () => {
    expect(open(3, 0, 0, 0)).toContain("people");
    expect(open(3, 1, 0, 0)).not.toContain("people");
  });
  it("end with the first course", () => {
    expect(listFirstSteps(stats(3, 1, 1, 1), 1).every((step) => step.isDone)).toBe(true);
  });
});
