import { beforeEach, expect, test } from "vitest";

import { checkCode, clearShown, restored, shownGeneration, shownHeaders, showSchool, subscribe } from "./shownSchool";

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

test("a late answer to a request from before the return changes nothing", () => {
  showSchool(north);
  const sentIn = shownGeneration();
  restored();
  let changes = 0;
  const stop = subscribe(() => (changes += 1));
  checkCode("ORGANIZATION_CHANGED", sentIn);
  expect(changes).toBe(0);
  checkCode("ORGANIZATION_CHANGED", shownGeneration());
  expect(changes).toBe(1);
  stop();
});
