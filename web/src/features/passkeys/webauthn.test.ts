import { describe, expect, it } from "vitest";

import { supportsPasskeys, toBytes, toText } from "./webauthn";

describe("base64url", () => {
  it("keeps every byte", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const text = toText(bytes.buffer);
    expect(text).toMatch(/^[\w-]+$/);
    expect([...toBytes(text)]).toEqual([...bytes]);
  });

  it("is that of the service", () => {
    expect(toText(Uint8Array.of(0xfb, 0xff, 0xfe).buffer)).toBe("-__-");
    expect([...toBytes("-__-")]).toEqual([0xfb, 0xff, 0xfe]);
    expect([...toBytes("AQ")]).toEqual([1]);
  });
});

it("needs a browser with passkeys", () => {
  expect(supportsPasskeys()).toBe(false);
});
