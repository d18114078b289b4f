import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { requireRole, isStaff } from "../../auth/session";
import { ErrorMessage } from "../../components/ErrorMessage";
import { PageHeader } from "../../components/PageHeader";
import { Skeleton } from "../../components/base/Skeleton";
import { classQuery } from "../../features/classes/classes";
import { Breadcrumbs } from "../../features/courses/Breadcrumbs";
import { courseQuery } from "../../features/courses/courses";
import { GradeBook } from "../../features/grade-book/GradeBook";

export const Route = createFileRoute("/_school/classes/$classId/grades")({
  beforeLoad: requireRole(isStaff),
  validateSearch: (search: Record<string, unknown>): { course?: string } =>
    typeof search.course === "string" ? { course: search.course } : {},
  component: GradeBookPage,
});

/** The grade book of a class, or of one of its courses. */
function GradeBookPage() {
  const { t } = useTranslation();
  const { classId } = Route.useParams();
  const { course: courseId } = Route.useSearch();
  const navigate = Route.useNavigate();
  const found = useQuery(classQuery(classId));
  const course = useQuery({ ...courseQuery(courseId ?? ""), enabled: courseId !== undefined });
  if (found.isPending) return <Skeleton />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  const name = course.data?.name ?? found.data.name;
  return (
    <div className="flex flex-col gap-4">
      <PageHeader
        title={`${t("gradeBook.title")}: ${name}`}
        breadcrumbs={
          <Breadcrumbs
            steps={[
              { name: t("nav.courses"), location: {} },
              { name: found.data.name, location: { class: classId } },
            ]}
          />
        }
      />
      <GradeBook
        classId={classId}
        className={found.data.name}
        courseId={courseId}
        onCourse={(next) => void navigate({ search: next === undefined ? {} : { course: next }, replace: true })}
      />
    </div>
  );
}
