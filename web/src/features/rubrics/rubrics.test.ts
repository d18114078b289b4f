import { expect, it } from "vitest";

import { parseRange, rubricBody, rubricForm, typedPoints } from "./rubrics";

it("parses the points of a level as a number or a range", () => {
  expect(parseRange("")).toBe(null);
  expect(parseRange("4")).toEqual({ minPoints: 4, maxPoints: 4 });
  expect(parseRange("0 – 2,5")).toEqual({ minPoints: 0, maxPoints: 2.5 });
  expect(parseRange("3-1")).toBe(undefined);
  expect(parseRange("many")).toBe(undefined);
  expect(typedPoints({ minPoints: 1, maxPoints: 3 })).toBe("1–3");
  expect(typedPoints({ minPoints: null, maxPoints: null })).toBe("");
});

it("sends a rubric once it is complete, without empty levels", () => {
  const form = rubricForm(undefined);
  expect(rubricBody(form)).toBe(undefined);
  const [criterion] = form.criteria;
  const [level] = criterion?.levels ?? [];
  if (criterion === undefined || level === undefined) throw new Error("a new rubric has a criterion with levels");
  form.title = " Poster ";
  criterion.title = "Sources";
  expect(rubricBody(form)).toBe(undefined);
  level.label = "Named";
  level.points = "x";
  expect(rubricBody(form)).toBe(undefined);
  level.points = "2";
  expect(rubricBody(form)).toEqual({
    title: "Poster",
    isShared: false,
    criteria: [
      {
        title: "Sources",
        description: null,
        levels: [{ label: "Named", description: null, minPoints: 2, maxPoints: 2 }],
      },
    ],
  });
});
