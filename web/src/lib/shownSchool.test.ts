import { beforeEach, expect, test } from "vitest";

import { checkCode, clearShown, restored, shownHeaders, showSchool } from "./shownSchool";

const north = { id: "n", name: "North" };
const south = { id: "s", name: "South" };

beforeEach(clearShown);

test("a page names no school before it shows one", () => {
  expect(shownHeaders()).toEqual({});
  showSchool(null);
  expect(shownHeaders()).toEqual({});
  showSchool(north);
  expect(shownHeaders()).toEqual({ "X-Organization-Id": "n" });
});

test("a page keeps its school when another one becomes active", () => {
  showSchool(north);
  showSchool(south);
  expect(shownHeaders()).toEqual({ "X-Organization-Id": "n" });
  checkCode("ORGANIZATION_CHANGED");
  restored();
  expect(shownHeaders()).toEqual({ "X-Organization-Id": "n" });
  clearShown();
  showSchool(south);
  expect(shownHeaders()).toEqual({ "X-Organization-Id": "s" });
});
