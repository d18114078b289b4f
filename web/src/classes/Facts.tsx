import { useTranslation } from "react-i18next";

import { useTime } from "../lib/time";
import type { Class } from "./classes";
import { useDays } from "./Lessons";

/** What else is known of a class: whose it is, its subjects, its dates, its timetable. */
export function Facts({ of }: { of: Class }) {
  const { t } = useTranslation();
  const { day } = useTime();
  const days = useDays();
  const facts: [string, string][] = [
    [t("classes.year"), [of.academicYear, of.semester].filter(Boolean).join(" · ")],
    [t("classes.owner"), of.teacher.name],
    [t("classes.subjects"), (of.subjects ?? []).map((subject) => subject.name).join(", ")],
    [t("classes.homeroom"), of.homeroom?.name ?? ""],
    [t("classes.start"), of.startDate === null ? "" : day(of.startDate)],
    [t("classes.end"), of.endDate === null ? "" : day(of.endDate)],
    [t("classes.schedule"), (of.schedule ?? []).map((lesson) => [days[lesson.weekday - 1], `${lesson.start}–${lesson.end}`, lesson.room].filter(Boolean).join(" ")).join(", ")],
  ];
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2">
      {facts
        .filter(([, value]) => value !== "")
        .map(([name, value]) => (
          <div key={name} className="min-w-0">
            <dt className="text-soft text-sm">{name}</dt>
            <dd className="wrap-break-word">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
