import { useTranslation } from "react-i18next";

import { serverNow } from "../../hooks/serverClock";
import { useTime } from "../../i18n/time";
import { Card } from "../../components/Card";
import type { CourseDetail } from "./courses";
import { numberedName } from "../lesson/groupNames";

/** Outline of a course of another class, for other teachers: names of topics and groups. */
export function CourseOutline({ course }: { course: CourseDetail }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  return (
    <div className="flex flex-col gap-4">
      <p className="text-soft">{t("courses.outline", { class: course.class.name })}</p>
      <div className="grid items-start gap-4 md:grid-cols-2">
        <Card className="flex flex-col gap-2">
          <h2>{t("courses.topics", { count: course.assignments.length })}</h2>
          <ul className="flex flex-col gap-1">
            {course.assignments.map((topic) => (
              <li key={topic.id} className="wrap-break-word">
                {topic.title}{" "}
                <span className="text-soft text-sm">
                  {Date.parse(topic.deadline) < serverNow()
                    ? t("courses.ended", { when: moment(topic.deadline) })
                    : t("courses.ends", { when: moment(topic.deadline) })}
                </span>
              </li>
            ))}
          </ul>
        </Card>
        <Card className="flex flex-col gap-2">
          <h2>{t("courses.groups", { count: course.groups.length })}</h2>
          <ul className="flex flex-col gap-1">
            {course.groups.map((group) => (
              <li key={group.id} className="wrap-break-word">
                {numberedName(group)}{" "}
                <span className="text-soft text-sm">{t("courses.students", { count: group.memberCount })}</span>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </div>
  );
}
