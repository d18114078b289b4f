import { describe, expect, it } from "vitest";

import { partial } from "../../testing/partial";
import type { ListedAssignment } from "../groups/groups";
import { sortIntoDay, longestWaitingSince } from "./topicsOfTheDay";

const AT = Date.parse("2026-11-20T10:00:00Z");

function topic(
  id: string,
  hours: number,
  own: { status: ListedAssignment["groupAssignments"][number]["status"]; submittedAt?: string }[] = [],
  status: ListedAssignment["status"] = "ACTIVE",
): ListedAssignment {
  const groupAssignments = own.map((one, index) => ({
    status: one.status,
    group: { groupNumber: index },
    currentSubmission: one.submittedAt ? { submittedAt: one.submittedAt } : null,
  }));
  return partial<ListedAssignment>({
    id,
    status,
    class: { schedule: null },
    deadline: new Date(AT + hours * 3_600_000).toISOString(),
    groupAssignments,
  });
}

describe("sections of the start page", () => {
  const topics = [
    topic("late", 2),
    topic("soon", 0.5),
    topic("week", 100),
    topic("over", -1),
    topic("old", -30),
    topic("done", 1, [], "FINISHED"),
  ];
  const ids = (found: ListedAssignment[]) => found.map((one) => one.id);
  it("contain every open topic exactly once, by deadline", () => {
    const day = sortIntoDay(topics, "UTC", AT);
    expect(ids(day.running)).toEqual(["soon", "late", "over"]);
    expect(ids(day.next)).toEqual(["week"]);
    expect(ids(day.overdue)).toEqual(["old"]);
  });
  it("list unpublished topics as upcoming, whatever their deadline", () => {
    const draft = { ...topic("draft", 1), isDraft: true, publishAt: null };
    const day = sortIntoDay([...topics, draft], "UTC", AT);
    expect(ids(day.next)).toEqual(["draft", "week"]);
    expect(ids(day.running)).not.toContain("draft");
  });
  it("follow the timetable of the class", () => {
    const classOn = (weekday: number) => ({
      id: "",
      name: "",
      schedule: [{ weekday, start: "09:30", end: "10:30", room: null }],
    });
    // AT is a Friday.
    const now = { ...topic("lesson", 300), class: classOn(5) };
    const late = { ...topic("lessonLate", -50), class: classOn(5) };
    const monday = { ...topic("monday", 0.1), class: classOn(1) };
    const missed = { ...topic("missed", -0.1), class: classOn(1) };
    const day = sortIntoDay([now, late, monday, missed], "UTC", AT);
    expect(ids(day.running)).toEqual(["lesson", "lessonLate"]);
    expect(ids(day.next)).toEqual(["monday"]);
    expect(ids(day.overdue)).toEqual(["missed"]);
  });
  it("list submitted topics for grading, finished or not", () => {
    const given = topic(
      "given",
      -1,
      [
        { status: "SUBMITTED", submittedAt: "2026-11-20T09:00:00Z" },
        { status: "SUBMITTED", submittedAt: "2026-11-19T09:00:00Z" },
        { status: "GRADED" },
      ],
      "FINISHED",
    );
    expect(ids(sortIntoDay([given, topic("graded", -1, [{ status: "GRADED" }])], "UTC", AT).toGrade)).toEqual([
      "given",
    ]);
    expect(longestWaitingSince(given)).toBe("2026-11-19T09:00:00Z");
  });
});
