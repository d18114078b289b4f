import { describe, expect, it } from "vitest";

import { hasException, publicationState } from "./publication";

const now = Date.parse("2026-11-26T10:00:00Z");

describe("publication of a topic", () => {
  it("is published by default, and for students", () => {
    expect(publicationState({ isDraft: false, publishAt: null }, now)).toBe("published");
    expect(publicationState({}, now)).toBe("published");
  });
  it("is scheduled until its time", () => {
    const topic = { isDraft: false, publishAt: "2026-11-26T10:00:01Z" };
    expect(publicationState(topic, now)).toBe("scheduled");
    expect(publicationState(topic, now + 1000)).toBe("published");
  });
  it("of a draft does not depend on the time", () => {
    expect(publicationState({ isDraft: true, publishAt: null }, now)).toBe("draft");
  });
  it("of a group is an exception with a draft or a time", () => {
    expect(hasException({ isDraft: false, publishAt: null })).toBe(false);
    expect(hasException({ isDraft: true, publishAt: null })).toBe(true);
    expect(hasException({ isDraft: false, publishAt: "2026-11-26T10:00:01Z" })).toBe(true);
  });
});
