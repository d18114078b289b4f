import { X } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Schemas } from "../../api/client";
import { useTime } from "../../i18n/time";
import { Button } from "../../components/Button";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";

export type TimetableEntry = Schemas["ScheduleEntry"];

const DAYS = ["1", "2", "3", "4", "5", "6", "7"] as const;

/** Weekday names in the reader's language, Monday first. */
export function useWeekdayNames(): string[] {
  const { language } = useTime();
  const format = new Intl.DateTimeFormat(language, { weekday: "long", timeZone: "UTC" });
  // 1 January 2024 was a Monday.
  return DAYS.map((day) => format.format(new Date(Date.UTC(2024, 0, Number(day)))));
}

/** Weekly timetable of a class. */
export function TimetableFields({
  lessons,
  onChange,
}: {
  lessons: TimetableEntry[];
  onChange: (lessons: TimetableEntry[]) => void;
}) {
  const { t } = useTranslation();
  const days = useWeekdayNames();
  const set = (index: number, change: Partial<TimetableEntry>) =>
    onChange(lessons.map((lesson, at) => (at === index ? { ...lesson, ...change } : lesson)));
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="pb-1 font-medium">{t("classes.schedule")}</legend>
      {lessons.map((lesson, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- an entry is identified by its index only
        <div key={index} className="grid grid-cols-2 items-end gap-2 sm:grid-cols-[2fr_1fr_1fr_1fr_auto]">
          <Select
            label={t("classes.day")}
            options={DAYS.map((day, at) => ({ id: day, name: days[at] ?? day }))}
            value={String(lesson.weekday) as (typeof DAYS)[number]}
            onChange={(day) => set(index, { weekday: Number(day) })}
          />
          <TextField
            label={t("classes.from")}
            type="time"
            value={lesson.start}
            onChange={(from) => set(index, { start: from })}
            isRequired
          />
          <TextField
            label={t("classes.to")}
            type="time"
            value={lesson.end}
            onChange={(end) => set(index, { end })}
            isRequired
          />
          <TextField
            label={t("classes.room")}
            value={lesson.room ?? ""}
            onChange={(room) => set(index, { room: room || null })}
            maxLength={40}
            autoComplete="off"
          />
          <Button
            kind="quiet"
            className="px-0"
            aria-label={t("classes.removeLesson", { day: days[lesson.weekday - 1] ?? "" })}
            onPress={() => onChange(lessons.filter((_, at) => at !== index))}
          >
            <X aria-hidden="true" className="size-5" />
          </Button>
        </div>
      ))}
      <span>
        <Button onPress={() => onChange([...lessons, { weekday: 1, start: "08:00", end: "08:45", room: null }])}>
          {t("classes.addLesson")}
        </Button>
      </span>
    </fieldset>
  );
}
