import { describe, expect, it } from "vitest";

import { initials, personColors } from "./people";

describe("personColors", () => {
  it("gives no two of eight people the same color", () => {
    const ids = Array.from({ length: 8 }, (_, index) => `019c-${index * 7919}`);
    expect(new Set(personColors(ids).values()).size).toBe(8);
  });
  it("does not depend on the order of the list", () => {
    const ids = ["b", "j", "r", "a"];
    expect(personColors(ids)).toEqual(personColors(ids.toReversed()));
  });
  it("gives every person of a large group a color", () => {
    const ids = Array.from({ length: 30 }, (_, index) => `person ${index}`);
    expect([...personColors(ids).values()].every((color) => color >= 0 && color < 8)).toBe(true);
    expect(personColors(ids).size).toBe(30);
  });
});

describe("initials", () => {
  it("are the first letters of the first and the last name", () => {
    expect(initials("Mira Haddad")).toBe("MH");
    expect(initials("  Anna-Lena van der Berg ")).toBe("AB");
    expect(initials("Cher")).toBe("C");
    expect(initials("örs éva")).toBe("ÖÉ");
    expect(initials("")).toBe("");
  });
});
