import { beforeEach, expect, test } from "vitest";

import {
  checkSchoolChanged,
  clearPageSchool,
  markSchoolRestored,
  pageSchoolGeneration,
  pageSchoolHeaders,
  setPageSchool,
  subscribe,
} from "./pageSchool";

const north = { id: "n", name: "North" };
const south = { id: "s", name: "South" };

beforeEach(clearPageSchool);

test("page sends no school before it shows one", () => {
  expect(pageSchoolHeaders()).toEqual({});
  setPageSchool(null);
  expect(pageSchoolHeaders()).toEqual({});
  setPageSchool(north);
  expect(pageSchoolHeaders()).toEqual({ "X-Organization-Id": "n" });
});

test("page keeps its school when another one becomes active", () => {
  setPageSchool(north);
  setPageSchool(south);
  expect(pageSchoolHeaders()).toEqual({ "X-Organization-Id": "n" });
  checkSchoolChanged("ORGANIZATION_CHANGED");
  markSchoolRestored();
  expect(pageSchoolHeaders()).toEqual({ "X-Organization-Id": "n" });
  clearPageSchool();
  setPageSchool(south);
  expect(pageSchoolHeaders()).toEqual({ "X-Organization-Id": "s" });
});

test("late response to a request from before the return changes nothing", () => {
  setPageSchool(north);
  const sentIn = pageSchoolGeneration();
  markSchoolRestored();
  let changes = 0;
  const stop = subscribe(() => (changes += 1));
  checkSchoolChanged("ORGANIZATION_CHANGED", sentIn);
  expect(changes).toBe(0);
  checkSchoolChanged("ORGANIZATION_CHANGED", pageSchoolGeneration());
  expect(changes).toBe(1);
  stop();
});
