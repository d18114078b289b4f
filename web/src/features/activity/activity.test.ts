import { describe, expect, it } from "vitest";

import { periodStart, groupByDay, describeEntry, type ActivityEntry } from "./activity";
import { listDetails } from "./details";
import { parseActivityFilters } from "./filters";

const row = (more: Partial<Omit<ActivityEntry, "details">> & { details?: object }) =>
  ({
    details: {},
    entityId: "e",
    entityName: null,
    groupId: null,
    assignmentId: null,
    classId: null,
    ...more,
  }) as ActivityEntry;

describe("filters from the URL", () => {
  it("ignore invalid values", () => {
    expect(parseActivityFilters({ category: "GROUP", period: "week", userId: "u", classId: 7, junk: "x" })).toEqual({
      category: "GROUP",
      period: "week",
      userId: "u",
    });
    expect(parseActivityFilters({ category: "group", period: "year" })).toEqual({});
  });
});

describe("period", () => {
  it("begins at midnight in the reader's time zone, also across a clock change", () => {
    const noon = Date.parse("2026-10-26T11:00:00Z");
    expect(periodStart("today", "Europe/Berlin", noon)).toBe("2026-10-25T23:00:00.000Z");
    expect(periodStart("week", "Europe/Berlin", noon)).toBe("2026-10-19T22:00:00.000Z");
    expect(periodStart("today", "America/New_York", noon)).toBe("2026-10-26T04:00:00.000Z");
  });
});

describe("activity log", () => {
  it("groups entries by day", () => {
    const rows = ["2026-01-02T10:00:00Z", "2026-01-02T09:00:00Z", "2026-01-01T09:00:00Z"].map((createdAt) => ({
      createdAt,
    }));
    expect(groupByDay(rows, (at) => at.slice(0, 10)).map(({ day, rows: own }) => [day, own.length])).toEqual([
      ["2026-01-02", 2],
      ["2026-01-01", 1],
    ]);
  });
  it("describes object and location", () => {
    const of = new Map([
      ["g", "Rivers"],
      ["a", "Landforms"],
      ["c", "7b"],
    ]);
    const submitted = row({
      entityName: "Landforms – Rivers",
      groupId: "g",
      assignmentId: "a",
      classId: "c",
      details: { document: { id: "d", title: "Report" } },
    });
    expect(describeEntry(submitted, of)).toEqual({ what: "Report", where: ["Rivers", "Landforms", "7b"] });
    expect(describeEntry(submitted, new Map())).toEqual({ what: "Report", where: ["Landforms – Rivers"] });
    expect(describeEntry(row({ entityId: "g", entityName: "Rivers", groupId: "g", classId: "c" }), of)).toEqual({
      what: "Rivers",
      where: ["7b"],
    });
  });
});

describe("details", () => {
  it("list former and current values", () => {
    const details = {
      changed: ["deadline", "teacherId", "content"],
      before: { deadline: "2026-01-01T10:00:00Z", teacherId: "x" },
      after: { deadline: null, teacherId: "y" },
    };
    expect(listDetails(details)).toEqual([
      { field: "deadline", value: { is: "word", word: "none" }, before: { is: "moment", at: "2026-01-01T10:00:00Z" } },
      { field: "teacherId", value: { is: "word", word: "changed" } },
      { field: "content", value: { is: "word", word: "changed" } },
    ]);
  });
  it("show names and omit ids, zeros and false values", () => {
    expect(
      listDetails({
        members: [{ id: "1", name: "Ana" }],
        groupIds: ["x"],
        isLate: false,
        lateBySeconds: 0,
        waitedSeconds: 90,
        counts: { documents: 2, messages: 0 },
      }),
    ).toEqual([
      { field: "members", value: { is: "list", items: ["Ana"] } },
      { field: "waitedSeconds", value: { is: "seconds", count: 90 } },
      { field: "documents", value: { is: "number", count: 2 } },
    ]);
    expect(
      listDetails({
        installation: "https://former.example",
        takenAt: "2026-11-26T14:14:34.365Z",
        accounts: 10,
        invited: 0,
      }),
    ).toEqual([
      { field: "installation", value: { is: "text", text: "https://former.example" } },
      { field: "takenAt", value: { is: "moment", at: "2026-11-26T14:14:34.365Z" } },
      { field: "accounts", value: { is: "number", count: 10 } },
    ]);
    expect(listDetails({ groupIds: ["g", "gone"], feedbackId: "f" }, new Map([["g", "Rivers"]]))).toEqual([
      { field: "groupIds", value: { is: "list", items: ["Rivers"] } },
    ]);
  });
});
