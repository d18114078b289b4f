import { describe, expect, it } from "vitest";

import { parseUserAgent } from "./userAgent";

describe("user agent", () => {
  it("is distinguished from browsers it claims to be", () => {
    const edge =
      "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0";
    expect(parseUserAgent(edge)).toEqual({ program: "Edge", system: "Windows" });
    const chromebook =
      "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
    expect(parseUserAgent(chromebook)).toEqual({ program: "Chrome", system: "ChromeOS" });
    const phone =
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 (KHTML, like Gecko) Version/18.0 Mobile Safari/604";
    expect(parseUserAgent(phone)).toEqual({ program: "Safari", system: "iOS" });
  });
  it("may be unknown", () => {
    expect(parseUserAgent("curl/7.88.1")).toEqual({ program: undefined, system: undefined });
  });
});
