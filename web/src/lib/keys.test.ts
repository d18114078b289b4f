import { describe, expect, it } from "vitest";

import { match } from "./keys";

const DO = () => {};

describe("keys", () => {
  it("mean one deed, or two keys one", () => {
    expect(match(["h"], { h: DO })).toBe("h");
    expect(match(["g", "b"], { "g b": DO, b: DO })).toBe("g b");
    expect(match(["x", "b"], { "g b": DO, b: DO })).toBe("b");
  });
  it("mean nothing that is not offered", () => {
    expect(match(["g"], { "g b": DO })).toBeUndefined();
    expect(match(["h"], { h: undefined })).toBeUndefined();
  });
});
