import { describe, expect, it } from "vitest";

import { latestFeedbackTime, type Topic } from "./feedback";

const topic = (grade: object | null, feedback: object[]) => ({ id: "t", currentSubmission: { grade, feedback } }) as unknown as Topic;

describe("feedback", () => {
  it("is what was given out last", () => {
    expect(latestFeedbackTime(topic({ status: "PUBLISHED", publishedAt: "2026-01-02" }, [{ visibility: "GROUP", publishedAt: "2026-01-03" }]))).toBe("2026-01-03");
  });
  it("is no draft of a grade, and nothing the staff says among itself", () => {
    expect(latestFeedbackTime(topic({ status: "DRAFT", publishedAt: null }, [{ visibility: "STAFF", publishedAt: "2026-01-03" }, { visibility: "GROUP", publishedAt: null }]))).toBeUndefined();
    expect(latestFeedbackTime({ currentSubmission: null } as unknown as Topic)).toBeUndefined();
  });
});
