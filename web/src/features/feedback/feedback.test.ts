import { describe, expect, it } from "vitest";

import { latestFeedbackTime, type GroupTopic } from "./feedback";
import { partial } from "../../testing/partial";

const topic = (grade: object | null, feedback: object[]) =>
  partial<GroupTopic>({ id: "t", currentSubmission: { grade, feedback } });

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
    expect(latestFeedbackTime(partial<GroupTopic>({ currentSubmission: null }))).toBeUndefined();
  });
});
