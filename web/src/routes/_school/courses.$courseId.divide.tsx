import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link, Navigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isManaged, classQuery } from "../../features/classes/classes";
import { classGroupsQuery, type CourseDetail, studentsQuery } from "../../features/group-maker/courseGroups";
import { GroupMaker } from "../../features/group-maker/GroupMaker";
import { isStaff, requireRole } from "../../auth/session";
import { LockBanner } from "../../components/base/LockBanner";
import { EmptyState } from "../../components/base/EmptyState";
import { Breadcrumbs } from "../../features/courses/Breadcrumbs";
import { PageHeader } from "../../components/PageHeader";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { courseQuery } from "../../features/courses/courses";

export const Route = createFileRoute("/_school/courses/$courseId/divide")({
  beforeLoad: requireRole(isStaff),
  validateSearch: (search: Record<string, unknown>): { topic?: string } =>
    typeof search.topic === "string" ? { topic: search.topic } : {},
  component: GroupMakerPage,
});

/** Group maker: assigns the students of a class to groups. */
function GroupMakerPage() {
  const { t } = useTranslation();
  const { courseId } = Route.useParams();
  const found = useQuery(courseQuery(courseId));
  if (found.isPending) return <Skeleton count={6} />;
  if (!found.data) {
    return (
      <div className="flex flex-col gap-4">
        <PageHeading title={t("topic.divide")}>{t("topic.divide")}</PageHeading>
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      </div>
    );
  }
  return <ManagedCourse course={found.data} />;
}

/** Teachers of other classes must not see the students; the outline of the course is shown instead. */
function ManagedCourse({ course }: { course: CourseDetail }) {
  const within = useQuery(classQuery(course.classId));
  if (within.data)
    return isManaged(within.data) ? (
      <CourseGroupMaker course={course} />
    ) : (
      <Navigate to="/courses/$courseId" params={{ courseId: course.id }} replace />
    );
  if (within.error) return <ErrorMessage problem={within.error} onRetry={() => void within.refetch()} />;
  return <Skeleton count={6} />;
}

function CourseGroupMaker({ course }: { course: CourseDetail }) {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { topic } = Route.useSearch();
  const roster = useQuery(studentsQuery(course.classId));
  const groups = useQuery(classGroupsQuery(course.classId));
  const problem = roster.error ?? groups.error;
  const isArchived = course.status === "ARCHIVED" || course.class.status === "ARCHIVED";
  const title = t("divide.title", { count: roster.data?.length ?? 0, class: course.class.name });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader
        title={roster.data ? title : course.name}
        breadcrumbs={
          <Breadcrumbs
            steps={[
              { name: course.class.name, location: { class: course.classId } },
              { name: course.subject.name, location: { class: course.classId, subject: course.subjectId } },
              { name: course.name, link: { to: "/courses/$courseId", params: { courseId: course.id } } },
            ]}
          />
        }
      />
      {isArchived ? (
        <LockBanner>{t("divide.archived")}</LockBanner>
      ) : roster.data && groups.data ? (
        roster.data.length === 0 ? (
          <EmptyState
            action={
              <Link to="/classes/$classId" params={{ classId: course.classId }}>
                {t("divide.toClass", { class: course.class.name })}
              </Link>
            }
          >
            {t("divide.noStudents")}
          </EmptyState>
        ) : (
          <GroupMaker
            key={course.id}
            course={course}
            students={roster.data}
            groups={groups.data}
            topicId={topic}
            person={person.id}
          />
        )
      ) : problem ? (
        <ErrorMessage problem={problem} onRetry={() => void Promise.all([roster.refetch(), groups.refetch()])} />
      ) : (
        <Skeleton count={6} />
      )}
    </div>
  );
}
