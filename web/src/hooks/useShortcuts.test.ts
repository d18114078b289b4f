import { describe, expect, it } from "vitest";

import { matchShortcut } from "./useShortcuts";

const DO = () => {};

describe("keys", () => {
  it("mean one deed, or two keys one", () => {
    expect(matchShortcut(["h"], { h: DO })).toBe("h");
    expect(matchShortcut(["g", "b"], { "g b": DO, b: DO })).toBe("g b");
    expect(matchShortcut(["x", "b"], { "g b": DO, b: DO })).toBe("b");
  });
  it("mean nothing that is not offered", () => {
    expect(matchShortcut(["g"], { "g b": DO })).toBeUndefined();
    expect(matchShortcut(["h"], { h: undefined })).toBeUndefined();
  });
});
