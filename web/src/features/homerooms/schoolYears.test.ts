import { describe, expect, it } from "vitest";

import { nextName, nextYear, schoolYearAt } from "./schoolYears";

describe("next school year", () => {
  it("increments homeroom names", () => {
    expect(["7b", "Year 9 red", "09a", "10", "Foxes"].map(nextName)).toEqual(["8b", "Year 10 red", "10a", "11", null]);
  });
  it("increments school years", () => {
    expect(["2026/2027", "2026/27", "2027", "99/00", "this year"].map(nextYear)).toEqual([
      "2027/2028",
      "2027/28",
      "2028",
      "00/01",
      "",
    ]);
  });
  it("begins in August", () => {
    expect([schoolYearAt(Date.UTC(2026, 6, 15)), schoolYearAt(Date.UTC(2026, 7, 15))]).toEqual([
      "2025/2026",
      "2026/2027",
    ]);
  });
});
