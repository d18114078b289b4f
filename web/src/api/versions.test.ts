import { describe, expect, it } from "vitest";

import { Problem } from "./client";
import { currentVersion, ifMatch, mergeForm, withVersion } from "./versions";

describe("versions", () => {
  it("keeps typed values and takes over concurrent changes", () => {
    const began = { name: "Rivers", number: "1", date: null as string | null };
    const typed = { ...began, name: "Lakes" };
    const now = { name: "Seas", number: "2", date: null };
    expect(mergeForm(began, typed, now)).toEqual({
      form: { name: "Lakes", number: "2", date: null },
      differences: [
        { field: "name", isTyped: true },
        { field: "number", isTyped: false },
      ],
    });
    expect(mergeForm(began, { ...began, name: "Seas" }, { ...began, name: "Seas" }).differences).toEqual([
      { field: "name", isTyped: false },
    ]);
  });

  it("takes the version from the response and sends it with the change", async () => {
    const response = new Response(null, { headers: { etag: '"3"' } });
    const group = await withVersion(Promise.resolve({ data: { name: "Rivers" }, response }));
    expect(group).toEqual({ name: "Rivers", etag: '"3"' });
    expect(ifMatch(group)).toEqual({ headers: { "If-Match": '"3"' } });
    expect(ifMatch({})).toEqual({});
  });

  it("finds the current object in a version conflict only", () => {
    const current = { object: { name: "Seas" }, etag: '"4"' };
    expect(currentVersion(new Problem(412, "PRECONDITION_FAILED", "", [], undefined, current))).toEqual({
      name: "Seas",
      etag: '"4"',
    });
    expect(currentVersion(new Problem(409, "DUPLICATE_GROUP_NUMBER", ""))).toBeUndefined();
  });
});
