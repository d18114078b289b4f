import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";

import { type Class, isManaged, classQuery } from "../../features/classes/classes";
import { ClassMenu, useClassStatus } from "../../features/classes/ClassMenu";
import { ClassFacts } from "../../features/classes/ClassFacts";
import { LateSaves } from "../../features/classes/LateSaves";
import { Roster } from "../../features/classes/Roster";
import { ClassTeachers } from "../../features/classes/ClassTeachers";
import { coursesQuery, unassignedGroupsQuery, unassignedTopicsQuery } from "../../features/courses/courses";
import { CourseDialog } from "../../features/courses/CourseDialog";
import { CourseRow } from "../../features/courses/CourseRow";
import { UnassignedWork } from "../../features/courses/UnassignedWork";
import { PasswordSheets } from "../../features/users/PasswordSheets";
import { Breadcrumbs } from "../../features/courses/Breadcrumbs";
import { isStaff, requireRole } from "../../auth/session";
import { LockBanner } from "../../components/base/LockBanner";
import { Button, buttonClass } from "../../components/Button";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeader } from "../../components/PageHeader";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Tabs } from "../../components/Tabs";

const CLASS_TABS = ["students", "courses", "teachers", "loose"] as const;
type ClassTab = (typeof CLASS_TABS)[number];

export const Route = createFileRoute("/_school/classes/$classId/")({
  beforeLoad: requireRole(isStaff),
  validateSearch: (search: Record<string, unknown>): { tab?: Exclude<ClassTab, "students">; ungrouped?: true } => {
    const tab = CLASS_TABS.find((part) => part === search.tab);
    return {
      ...(tab === undefined || tab === "students" ? {} : { tab }),
      ...(search.ungrouped === true ? { ungrouped: true as const } : {}),
    };
  },
  component: ClassPage,
});

/** A class: its teachers, students, courses, and the groups without a course. */
function ClassPage() {
  const { t } = useTranslation();
  const { classId } = Route.useParams();
  const { person } = Route.useRouteContext();
  const found = useQuery(classQuery(classId));
  if (found.isPending) return <Skeleton />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  const one = found.data;
  const isOwn = isManaged(one);
  return (
    <div className="flex flex-col gap-4">
      <PageHeader
        title={t("classes.title", { name: one.name })}
        breadcrumbs={
          <Breadcrumbs
            steps={[
              { name: t("nav.courses"), location: {} },
              { name: one.name, location: { class: one.id } },
            ]}
          />
        }
      >
        {isOwn ? (
          <>
            <ClassMenu schoolClass={one} />
            <Link to="/classes/$classId/grades" params={{ classId }} className={buttonClass()}>
              {t("courses.gradeBook")}
            </Link>
          </>
        ) : null}
      </PageHeader>
      <ClassStatusNotice schoolClass={one} isOwn={isOwn} />
      <ClassFacts schoolClass={one} />
      {isOwn ? <LateSaves classId={one.id} /> : null}
      {isOwn ? <PasswordSheets caller={person} /> : null}
      {isOwn ? <ClassTabs schoolClass={one} /> : <p className="text-soft">{t("classes.notYours")}</p>}
    </div>
  );
}

/** Shows that a class is archived or a draft, and the action that changes it. */
function ClassStatusNotice({ schoolClass, isOwn }: { schoolClass: Class; isOwn: boolean }) {
  const { t } = useTranslation();
  const status = useClassStatus(schoolClass);
  if (schoolClass.status === "ACTIVE") return null;
  return (
    <LockBanner
      action={
        isOwn ? (
          <Button isPending={status.isPending} onPress={() => status.set("ACTIVE")}>
            {schoolClass.status === "DRAFT" ? t("classes.publish") : t("classes.activate")}
          </Button>
        ) : undefined
      }
    >
      {schoolClass.status === "DRAFT" ? t("classes.isDraft") : t("classes.isArchived")}
    </LockBanner>
  );
}

function ClassTabs({ schoolClass }: { schoolClass: Class }) {
  const { t } = useTranslation();
  const { tab = "students", ungrouped = false } = Route.useSearch();
  const navigate = Route.useNavigate();
  const groups = (useQuery(unassignedGroupsQuery).data ?? []).filter((group) => group.classId === schoolClass.id);
  const topics = (useQuery(unassignedTopicsQuery).data ?? []).filter((topic) => topic.classId === schoolClass.id);
  const unassigned = groups.length + topics.length;
  const canChange = schoolClass.status !== "ARCHIVED";
  const shown: Record<ClassTab, ReactNode> = {
    students: (
      <Roster
        classId={schoolClass.id}
        canChange={canChange}
        isUngrouped={ungrouped}
        onUngrouped={(isOn) => void navigate({ search: isOn ? { ungrouped: true } : {}, replace: true })}
      />
    ),
    courses: <ClassCourses schoolClass={schoolClass} canChange={canChange} />,
    teachers: <ClassTeachers schoolClass={schoolClass} canChange={canChange} />,
    loose: <UnassignedWork groups={groups} topics={topics} canChange={canChange} />,
  };
  const names: Record<ClassTab, string> = {
    students: t("courses.studentsTab"),
    courses: t("nav.courses"),
    teachers: t("classes.teachersTab"),
    loose: t("courses.loose"),
  };
  const counts: Record<ClassTab, number | undefined> = {
    students: schoolClass.counts?.students,
    courses: schoolClass.counts?.courses,
    teachers: 1 + (schoolClass.coTeachers?.length ?? 0),
    loose: unassigned,
  };
  return (
    <Tabs<ClassTab>
      label={t("classes.title", { name: schoolClass.name })}
      open={tab}
      onOpen={(part) => void navigate({ search: part === "students" ? {} : { tab: part } })}
      parts={CLASS_TABS.filter((part) => part !== "loose" || unassigned > 0 || tab === "loose").map((part) => ({
        id: part,
        name: names[part],
        count: counts[part],
        content: () => shown[part],
      }))}
    />
  );
}

function ClassCourses({ schoolClass, canChange }: { schoolClass: Class; canChange: boolean }) {
  const { t } = useTranslation();
  const found = useQuery(coursesQuery);
  const [isOpen, setIsOpen] = useState(false);
  if (found.isPending) return <Skeleton />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  const own = found.data.filter((course) => course.classId === schoolClass.id);
  const add = canChange ? <Button onPress={() => setIsOpen(true)}>{t("courses.new")}</Button> : undefined;
  return (
    <div className="flex flex-col items-stretch gap-3">
      {own.length === 0 ? (
        <EmptyState action={add}>{t("courses.noneIn", { where: schoolClass.name })}</EmptyState>
      ) : (
        <span>{add}</span>
      )}
      <ul className="flex flex-col gap-2">
        {own.map((course) => (
          <CourseRow key={course.id} course={course} isManaged={canChange} hasClass={false} />
        ))}
      </ul>
      {isOpen ? <CourseDialog classId={schoolClass.id} onClose={() => setIsOpen(false)} /> : null}
    </div>
  );
}
