import { describe, expect, it } from "vitest";

import { quota, slugOf, typedQuota } from "./tenants";

describe("the short name of a school", () => {
  it("is made of what may stand in an address", () => {
    expect(slugOf("Käthe-Kollwitz-Schule Süd")).toBe("kaethe-kollwitz-schule-sued");
    expect(slugOf("  École № 3 ")).toBe("ecole-3");
    expect(slugOf("x".repeat(62) + " y")).toBe("x".repeat(62));
  });
});

describe("a quota", () => {
  it("is typed in gigabytes, with a point or a comma", () => {
    expect(quota("1,5")).toBe(1_500_000_000);
    expect(quota("")).toBeNull();
    expect(quota("much")).toBeUndefined();
    expect(quota("-1")).toBeUndefined();
    expect(typedQuota(1_500_000_000)).toBe("1.5");
    expect(typedQuota(null)).toBe("");
  });
});
