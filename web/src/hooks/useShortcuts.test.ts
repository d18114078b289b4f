import { describe, expect, it } from "vitest";

import { matchShortcut } from "./useShortcuts";

const DO = () => {};

describe("shortcuts", () => {
  it("match one key or a sequence of two", () => {
    expect(matchShortcut(["h"], { h: DO })).toBe("h");
    expect(matchShortcut(["g", "b"], { "g b": DO, b: DO })).toBe("g b");
    expect(matchShortcut(["x", "b"], { "g b": DO, b: DO })).toBe("b");
  });
  it("do not match keys without a handler", () => {
    expect(matchShortcut(["g"], { "g b": DO })).toBeUndefined();
    expect(matchShortcut(["h"], { h: undefined })).toBeUndefined();
  });
});
