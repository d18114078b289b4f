import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Badge } from "../../components/base/Badge";
import { CourseMenu } from "./CourseMenu";
import type { Course } from "./courses";
import { isArchived } from "./folders";

/** A course in a list, with its contents and actions. */
export function CourseRow({ course, isManaged, hasClass }: { course: Course; isManaged: boolean; hasClass: boolean }) {
  const { t } = useTranslation();
  return (
    <li className="bg-sheet border-faint flex items-center gap-2 rounded-xl border py-1 ps-4 pe-1 shadow-sm">
      <div className="grid min-w-0 grow items-center gap-x-4 py-1 sm:grid-cols-[minmax(0,1fr)_minmax(0,11rem)_5.5rem_5.5rem]">
        <span className="flex min-w-0 flex-wrap items-center gap-x-3">
          <Link
            to="/courses/$courseId"
            params={{ courseId: course.id }}
            className="min-w-0 py-2 font-medium wrap-break-word"
          >
            {course.name}
          </Link>
          {isArchived(course) ? <Badge>{t("courses.archived")}</Badge> : null}
        </span>
        <span className="flex min-w-0 items-center gap-2 text-sm">
          <SubjectDot color={course.subject.color} />
          <span className="min-w-0 wrap-break-word">
            {hasClass ? `${course.class.name} · ${course.subject.name}` : course.subject.name}
          </span>
        </span>
        <span className="text-soft text-sm tabular-nums">
          {t("courses.topics", { count: course.counts.assignments })}
        </span>
        <span className="text-soft text-sm tabular-nums">{t("courses.groups", { count: course.counts.groups })}</span>
      </div>
      {isManaged ? <CourseMenu course={course} /> : null}
    </li>
  );
}

/** Colour of a subject, next to its name. */
export function SubjectDot({ color }: { color: string | null | undefined }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 10 10" className="text-line size-2.5 shrink-0">
      <circle cx="5" cy="5" r="4.5" fill={color ?? "currentColor"} />
    </svg>
  );
}
