// Lessons of a weekly timetable, whose times are local times of the school.
import type { Schemas } from "../../api/client";

type ScheduleEntry = Schemas["ScheduleEntry"];

export interface LessonTimes {
  /** The lesson that takes place now or begins within ten minutes. */
  current: ScheduleEntry | undefined;
  /** The next lesson within a week, and in how many days it is. */
  next: { entry: ScheduleEntry; days: number } | undefined;
}

/** Teachers open the board before the lesson begins. */
const LEAD_MINUTES = 10;
const WEEK = 7;
const DAY_MINUTES = 1_440;

/** Finds the current and the next lesson in the time zone of the school. */
export function lessonTimes(schedule: readonly ScheduleEntry[], zone: string, at: number): LessonTimes {
  const now = localMinutes(zone, at);
  const lessons = schedule
    .map((entry) => {
      const days = (entry.weekday - now.weekday + WEEK) % WEEK;
      const begins = days * DAY_MINUTES + minutes(entry.start) - now.minutes;
      return { entry, days, begins, ends: begins + minutes(entry.end) - minutes(entry.start) };
    })
    .toSorted((one, other) => one.begins - other.begins);
  const upcoming = lessons
    // A lesson of today that has begun takes place again in a week.
    .map((lesson) =>
      lesson.begins > 0 ? lesson : { ...lesson, days: WEEK, begins: lesson.begins + WEEK * DAY_MINUTES },
    )
    .toSorted((one, other) => one.begins - other.begins);
  return { current: lessons.find(({ begins, ends }) => begins <= LEAD_MINUTES && ends > 0)?.entry, next: upcoming[0] };
}

function minutes(time: string): number {
  const [hours = 0, rest = 0] = time.split(":").map(Number);
  return hours * 60 + rest;
}

/** Day of the week, from Monday (1) to Sunday (7), and minutes since midnight. */
function localMinutes(zone: string, at: number): { weekday: number; minutes: number } {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23",
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)?.value);
  const day = new Date(Date.UTC(part("year"), part("month") - 1, part("day"))).getUTCDay();
  return { weekday: day === 0 ? WEEK : day, minutes: part("hour") * 60 + part("minute") };
}
