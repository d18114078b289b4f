import { describe, expect, it } from "vitest";

import { workState, type WorkFacts } from "./WorkChip";

const facts = (change: Partial<WorkFacts>): WorkFacts => ({
  status: "IN_PROGRESS",
  isLate: false,
  deadline: "2026-11-25T10:00:00Z",
  isFinished: false,
  ...change,
});
const before = Date.parse("2026-11-25T09:00:00Z");
const after = Date.parse("2026-11-25T10:08:00Z");

describe("workState", () => {
  it("is the status before the deadline", () => {
    expect(workState(facts({}), before)).toBe("working");
    expect(workState(facts({ status: "NOT_STARTED" }), before)).toBe("open");
    expect(workState(facts({ status: "SUBMITTED" }), after)).toBe("submitted");
  });
  it("is late when the deadline has passed without a submission, or the submission was late", () => {
    expect(workState(facts({}), after)).toBe("late");
    expect(workState(facts({ status: "SUBMITTED", isLate: true }), before)).toBe("late");
  });
  it("is missing when a finished topic has no submission", () => {
    expect(workState(facts({ isFinished: true }), after)).toBe("missing");
    expect(workState(facts({ isFinished: true, status: "GRADED", isLate: true }), after)).toBe("graded");
    expect(workState(facts({ isFinished: true, status: "RETURNED" }), after)).toBe("revise");
  });
});
