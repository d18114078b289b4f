import { describe, expect, it } from "vitest";

import { numberedName } from "./groupNames";

describe("numberedName", () => {
  it("puts the number before the name", () => {
    expect(numberedName({ groupNumber: 3, name: "Group 3", displayName: "Glaciers" })).toBe("3 Glaciers");
  });
  it("does not repeat a number that the name contains", () => {
    expect(numberedName({ groupNumber: 1, name: "Gruppe 1" })).toBe("Gruppe 1");
    expect(numberedName({ groupNumber: 12, name: "12. Gruppe" })).toBe("12. Gruppe");
  });
  it("does not take a part of another number for the number", () => {
    expect(numberedName({ groupNumber: 1, name: "Gruppe 12" })).toBe("1 Gruppe 12");
    expect(numberedName({ groupNumber: 2, name: "7b2" })).toBe("7b2");
  });
});
