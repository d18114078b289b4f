import { describe, expect, it } from "vitest";

import { lessonTimes } from "./lessonTimes";

const lesson = (weekday: number, start: string, end: string) => ({ weekday, start, end, room: null });
const monday = lesson(1, "08:00", "09:30");
const friday = lesson(5, "10:15", "11:00");
const BERLIN = "Europe/Berlin";
const at = (moment: string, schedule = [friday, monday]) => lessonTimes(schedule, BERLIN, Date.parse(moment));

describe("lesson times", () => {
  it("are those of the school, in summer and in winter", () => {
    expect(at("2026-11-20T09:30:00Z").current).toBe(friday);
    expect(at("2026-06-19T08:30:00Z").current).toBe(friday);
    expect(at("2026-06-19T09:30:00Z").current).toBeUndefined();
  });
  it("include the ten minutes before a lesson, but not its end", () => {
    expect(at("2026-11-20T09:04:00Z").current).toBeUndefined();
    expect(at("2026-11-20T09:05:00Z").current).toBe(friday);
    expect(at("2026-11-20T09:59:00Z").current).toBe(friday);
    expect(at("2026-11-20T10:00:00Z").current).toBeUndefined();
  });
  it("contain the next lesson, which may be a week away", () => {
    expect(at("2026-11-20T09:00:00Z").next).toMatchObject({ entry: friday, days: 0 });
    expect(at("2026-11-20T09:30:00Z").next).toMatchObject({ entry: monday, days: 3 });
    expect(at("2026-11-20T09:30:00Z", [friday]).next).toMatchObject({ entry: friday, days: 7 });
    expect(at("2026-11-22T23:30:00Z").next).toMatchObject({ entry: monday, days: 0 });
  });
  it("are empty without lessons", () => {
    expect(at("2026-11-20T09:30:00Z", [])).toEqual({ current: undefined, next: undefined });
  });
});
