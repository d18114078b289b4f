import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link, Navigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isManaged, classQuery } from "../../features/classes/classes";
import { classGroups, course, type CourseDetail, students } from "../../divide/class";
import { Divider } from "../../divide/Divider";
import { isStaff, only } from "../../lib/session";
import { Bar } from "../../ui/Bar";
import { Empty } from "../../ui/Empty";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";

export const Route = createFileRoute("/_school/courses/$courseId/divide")({
  beforeLoad: only(isStaff),
  validateSearch: (search: Record<string, unknown>): { topic?: string } => (typeof search.topic === "string" ? { topic: search.topic } : {}),
  component: Divide,
});

/** S5: dividing the students of a class into groups. */
function Divide() {
  const { t } = useTranslation();
  const { courseId } = Route.useParams();
  const found = useQuery(course(courseId));
  if (found.isPending) return <Shape count={6} />;
  if (!found.data) {
    return (
      <div className="flex flex-col gap-4">
        <Heading title={t("topic.divide")}>{t("topic.divide")}</Heading>
        <Problems problem={found.error} again={() => void found.refetch()} />
      </div>
    );
  }
  return <Managed of={found.data} />;
}

/** Whoever does not teach the class may not know who is in it: the course tells him what he may see. */
function Managed({ of }: { of: CourseDetail }) {
  const within = useQuery(classQuery(of.classId));
  if (within.data) return isManaged(within.data) ? <Class of={of} /> : <Navigate to="/courses/$courseId" params={{ courseId: of.id }} replace />;
  if (within.error) return <Problems problem={within.error} again={() => void within.refetch()} />;
  return <Shape count={6} />;
}

function Class({ of }: { of: CourseDetail }) {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { topic } = Route.useSearch();
  const roster = useQuery(students(of.classId));
  const groups = useQuery(classGroups(of.classId));
  const problem = roster.error ?? groups.error;
  const isArchived = of.status === "ARCHIVED" || of.class.status === "ARCHIVED";
  const title = t("divide.title", { count: roster.data?.length ?? 0, class: of.class.name });
  return (
    <div className="flex flex-col gap-4">
      <div>
        <nav aria-label={t("divide.where")}>
          <Link to="/courses/$courseId" params={{ courseId: of.id }} className="inline-flex min-h-6 items-center">
            {of.class.name} › {of.subject.name} › {of.name}
          </Link>
        </nav>
        <Heading title={roster.data ? title : of.name}>{roster.data ? title : of.name}</Heading>
      </div>
      {isArchived ? (
        <Bar>{t("divide.archived")}</Bar>
      ) : roster.data && groups.data ? (
        roster.data.length === 0 ? (
          <Empty action={<Link to="/classes/$classId" params={{ classId: of.classId }}>{t("divide.toClass", { class: of.class.name })}</Link>}>{t("divide.noStudents")}</Empty>
        ) : (
          <Divider key={of.id} of={of} students={roster.data} groups={groups.data} topicId={topic} person={person.id} />
        )
      ) : problem ? (
        <Problems problem={problem} again={() => void Promise.all([roster.refetch(), groups.refetch()])} />
      ) : (
        <Shape count={6} />
      )}
    </div>
  );
}
