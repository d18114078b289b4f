import { describe, expect, it } from "vitest";

import { periodStart, groupByDay, describeEntry, type ActivityEntry } from "./activity";
import { listDetails } from "./details";
import { parseFilters } from "./filters";

const row = (more: Partial<Omit<ActivityEntry, "details">> & { details?: object }) =>
  ({ details: {}, entityId: "e", entityName: null, groupId: null, assignmentId: null, classId: null, ...more }) as ActivityEntry;

describe("what an address asks for", () => {
  it("is taken as far as it makes sense", () => {
    expect(parseFilters({ category: "GROUP", period: "week", userId: "u", classId: 7, junk: "x" })).toEqual({ category: "GROUP", period: "week", userId: "u" });
    expect(parseFilters({ category: "group", period: "year" })).toEqual({});
  });
});

describe("a period", () => {
  it("begins with the day of its reader, also over a change of the clocks", () => {
    const noon = Date.parse("2026-10-26T11:00:00Z");
    expect(periodStart("today", "Europe/Berlin", noon)).toBe("2026-10-25T23:00:00.000Z");
    expect(periodStart("week", "Europe/Berlin", noon)).toBe("2026-10-19T22:00:00.000Z");
    expect(periodStart("today", "America/New_York", noon)).toBe("2026-10-26T04:00:00.000Z");
  });
});

describe("the log", () => {
  it("is cut where a day ends", () => {
    const rows = ["2026-01-02T10:00:00Z", "2026-01-02T09:00:00Z", "2026-01-01T09:00:00Z"].map((createdAt) => ({ createdAt }));
    expect(groupByDay(rows, (at) => at.slice(0, 10)).map(({ day, rows: own }) => [day, own.length])).toEqual([["2026-01-02", 2], ["2026-01-01", 1]]);
  });
  it("says what and where", () => {
    const of = new Map([["g", "Rivers"], ["a", "Landforms"], ["c", "7b"]]);
    const submitted = row({ entityName: "Landforms – Rivers", groupId: "g", assignmentId: "a", classId: "c", details: { document: { id: "d", title: "Report" } } });
    expect(describeEntry(submitted, of)).toEqual({ what: "Report", where: ["Rivers", "Landforms", "7b"] });
    expect(describeEntry(submitted, new Map())).toEqual({ what: "Report", where: ["Landforms – Rivers"] });
    expect(describeEntry(row({ entityId: "g", entityName: "Rivers", groupId: "g", classId: "c" }), of)).toEqual({ what: "Rivers", where: ["7b"] });
  });
});

describe("details", () => {
  it("show what was and what is", () => {
    const details = { changed: ["deadline", "teacherId", "content"], before: { deadline: "2026-01-01T10:00:00Z", teacherId: "x" }, after: { deadline: null, teacherId: "y" } };
    expect(listDetails(details)).toEqual([
      { field: "deadline", value: { is: "word", word: "none" }, before: { is: "moment", at: "2026-01-01T10:00:00Z" } },
      { field: "teacherId", value: { is: "word", word: "changed" } },
      { field: "content", value: { is: "word", word: "changed" } },
    ]);
  });
  it("name people and leave out ids, noughts and what is not so", () => {
    expect(listDetails({ members: [{ id: "1", name: "Ana" }], groupIds: ["x"], isLate: false, lateBySeconds: 0, waitedSeconds: 90, counts: { documents: 2, messages: 0 } })).toEqual([
      { field: "members", value: { is: "list", items: ["Ana"] } },
      { field: "waitedSeconds", value: { is: "seconds", count: 90 } },
      { field: "documents", value: { is: "number", count: 2 } },
    ]);
    expect(listDetails({ groupIds: ["g", "gone"], feedbackId: "f" }, new Map([["g", "Rivers"]]))).toEqual([{ field: "groupIds", value: { is: "list", items: ["Rivers"] } }]);
  });
});
