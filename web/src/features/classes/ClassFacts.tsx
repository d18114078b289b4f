import { useTranslation } from "react-i18next";

import { useTime } from "../../i18n/time";
import type { Class } from "./classes";
import { useWeekdayNames } from "./TimetableFields";

/** Further facts about a class: owner, subjects, dates, timetable. */
export function ClassFacts({ schoolClass }: { schoolClass: Class }) {
  const { t } = useTranslation();
  const { day } = useTime();
  const days = useWeekdayNames();
  const facts: [string, string][] = [
    [t("classes.year"), [schoolClass.academicYear, schoolClass.semester].filter(Boolean).join(" · ")],
    [t("classes.owner"), schoolClass.teacher.name],
    [t("classes.subjects"), (schoolClass.subjects ?? []).map((subject) => subject.name).join(", ")],
    [
      t("classes.homeroom"),
      [schoolClass.homeroom?.name, schoolClass.followsHomeroom ? t("classes.isFollowing") : ""]
        .filter(Boolean)
        .join(" · "),
    ],
    [t("classes.start"), schoolClass.startDate === null ? "" : day(schoolClass.startDate)],
    [t("classes.end"), schoolClass.endDate === null ? "" : day(schoolClass.endDate)],
    [
      t("classes.schedule"),
      (schoolClass.schedule ?? [])
        .map((lesson) =>
          [days[lesson.weekday - 1], `${lesson.start}–${lesson.end}`, lesson.room].filter(Boolean).join(" "),
        )
        .join(", "),
    ],
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
