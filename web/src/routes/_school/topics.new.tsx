import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isStaff, requireRole } from "../../auth/session";
import { NewTopic } from "../../features/topics/NewTopic";
import { managedCoursesQuery } from "../../features/topics/topic";
import { Select } from "../../forms/Select";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";

export const Route = createFileRoute("/_school/topics/new")({
  beforeLoad: requireRole(isStaff),
  validateSearch: (search: Record<string, unknown>): { courseId?: string; classId?: string } => ({
    ...(typeof search.courseId === "string" ? { courseId: search.courseId } : {}),
    ...(typeof search.classId === "string" ? { classId: search.classId } : {}),
  }),
  component: NewTopicPage,
});

/** A new topic. */
function NewTopicPage() {
  const { t } = useTranslation();
  const navigate = Route.useNavigate();
  const { person } = Route.useRouteContext();
  const { courseId, classId } = Route.useSearch();
  const all = useQuery(managedCoursesQuery);
  const course = all.data?.find((one) => one.id === courseId);
  const target = course
    ? { classId: course.classId, courseId: course.id }
    : courseId === undefined && classId !== undefined
      ? { classId, courseId: null }
      : undefined;
  return (
    <div className="flex flex-col gap-4">
      <div>
        {course ? (
          <nav aria-label={t("courses.way")}>
            <Link to="/courses/$courseId" params={{ courseId: course.id }} className="inline-flex min-h-6 items-center">
              {course.class.name} › {course.subject.name} › {course.name}
            </Link>
          </nav>
        ) : null}
        <PageHeading title={t("topic.new")}>{t("topic.new")}</PageHeading>
      </div>
      {all.isPending ? <Skeleton /> : null}
      {all.isError ? <ErrorMessage problem={all.error} onRetry={() => void all.refetch()} /> : null}
      {all.data && target === undefined ? (
        all.data.length === 0 ? (
          <EmptyState action={<Link to="/courses">{t("topic.toCourses")}</Link>}>{t("topic.noCourses")}</EmptyState>
        ) : (
          <div className="flex max-w-md flex-col gap-3">
            {courseId === undefined ? null : <p>{t("topic.notHere")}</p>}
            <Select
              label={t("topic.whichCourse")}
              none={t("topic.choose")}
              options={all.data.map((one) => ({
                id: one.id,
                name: `${one.class.name} › ${one.subject.name} › ${one.name}`,
              }))}
              value={null}
              onChange={(id) => void navigate({ search: { courseId: id }, replace: true })}
            />
          </div>
        )
      ) : null}
      {target === undefined ? null : (
        <NewTopic key={target.courseId ?? target.classId} {...target} person={person.id} />
      )}
    </div>
  );
}
