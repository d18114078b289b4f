import { describe, expect, it } from "vitest";

import { parseQuota, suggestSlug, formatQuota } from "./tenants";

describe("slug", () => {
  it("contains only characters allowed in a URL", () => {
    expect(suggestSlug("Käthe-Kollwitz-Schule Süd")).toBe("kaethe-kollwitz-schule-sued");
    expect(suggestSlug("  École № 3 ")).toBe("ecole-3");
    expect(suggestSlug("x".repeat(62) + " y")).toBe("x".repeat(62));
  });
});

describe("a quota", () => {
  it("is parsed in gigabytes, with point or comma", () => {
    expect(parseQuota("1,5")).toBe(1_500_000_000);
    expect(parseQuota("")).toBeNull();
    expect(parseQuota("much")).toBeUndefined();
    expect(parseQuota("-1")).toBeUndefined();
    expect(formatQuota(1_500_000_000)).toBe("1.5");
    expect(formatQuota(null)).toBe("");
  });
});
