import { describe, expect, it } from "vitest";

import { latestFeedbackTime, type GroupTopic } from "./feedback";

const topic = (grade: object | null, feedback: object[]) =>
  ({ id: "t", currentSubmission: { grade, feedback } }) as unknown as GroupTopic;

describe("feedback", () => {
  it("is the latest published feedback", () => {
    expect(
      latestFeedbackTime(
        topic({ status: "PUBLISHED", publishedAt: "2026-01-02" }, [{ visibility: "GROUP", publishedAt: "2026-01-03" }]),
      ),
    ).toBe("2026-01-03");
  });
  it("excludes draft grades and staff-only comments", () => {
    expect(
      latestFeedbackTime(
        topic({ status: "DRAFT", publishedAt: null }, [
          { visibility: "STAFF", publishedAt: "2026-01-03" },
          { visibility: "GROUP", publishedAt: null },
        ]),
      ),
    ).toBeUndefined();
    expect(latestFeedbackTime({ currentSubmission: null } as unknown as GroupTopic)).toBeUndefined();
  });
});
