import { describe, expect, it } from "vitest";

import { parseQuota, suggestSlug, formatQuota } from "./tenants";

describe("the short name of a school", () => {
  it("is made of what may stand in an address", () => {
    expect(suggestSlug("Käthe-Kollwitz-Schule Süd")).toBe("kaethe-kollwitz-schule-sued");
    expect(suggestSlug("  École № 3 ")).toBe("ecole-3");
    expect(suggestSlug("x".repeat(62) + " y")).toBe("x".repeat(62));
  });
});

describe("a quota", () => {
  it("is typed in gigabytes, with a point or a comma", () => {
    expect(parseQuota("1,5")).toBe(1_500_000_000);
    expect(parseQuota("")).toBeNull();
    expect(parseQuota("much")).toBeUndefined();
    expect(parseQuota("-1")).toBeUndefined();
    expect(formatQuota(1_500_000_000)).toBe("1.5");
    expect(formatQuota(null)).toBe("");
  });
});
