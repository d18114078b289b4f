import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";

import { type Class, isManaged, schoolClass } from "../../classes/classes";
import { ClassMenu, useClassStatus } from "../../classes/ClassMenu";
import { Facts } from "../../classes/Facts";
import { LateTexts } from "../../classes/LateTexts";
import { Roster } from "../../classes/Roster";
import { Teachers } from "../../classes/Teachers";
import { coursesQuery, unassignedGroupsQuery, unassignedTopicsQuery } from "../../features/courses/courses";
import { CourseDialog } from "../../features/courses/CourseDialog";
import { CourseRow } from "../../features/courses/CourseRow";
import { UnassignedWork } from "../../features/courses/UnassignedWork";
import { Breadcrumbs } from "../../features/courses/Breadcrumbs";
import { isStaff, only } from "../../lib/session";
import { Bar } from "../../ui/Bar";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";
import { Tabs } from "../../ui/Tabs";

const PARTS = ["students", "courses", "teachers", "loose"] as const;
type Part = (typeof PARTS)[number];

export const Route = createFileRoute("/_school/classes/$classId")({
  beforeLoad: only(isStaff),
  validateSearch: (search: Record<string, unknown>): { tab?: Exclude<Part, "students">; ungrouped?: true } => {
    const tab = PARTS.find((part) => part === search.tab);
    return { ...(tab === undefined || tab === "students" ? {} : { tab }), ...(search.ungrouped === true ? { ungrouped: true as const } : {}) };
  },
  component: ClassPage,
});

/** A class: its teachers, students, courses, and the groups without a course. */
function ClassPage() {
  const { t } = useTranslation();
  const { classId } = Route.useParams();
  const found = useQuery(schoolClass(classId));
  if (found.isPending) return <Shape />;
  if (!found.data) return <Problems problem={found.error} again={() => void found.refetch()} />;
  const one = found.data;
  const isOwn = isManaged(one);
  return (
    <div className="flex flex-col gap-4">
      <Breadcrumbs steps={[{ name: t("nav.courses"), location: {} }, { name: one.name, location: { class: one.id } }]} />
      <div className="-mt-3 flex items-center gap-2">
        <div className="me-auto min-w-0 wrap-break-word">
          <Heading title={t("classes.title", { name: one.name })}>{t("classes.title", { name: one.name })}</Heading>
        </div>
        {isOwn ? <ClassMenu of={one} /> : null}
      </div>
      <Standing of={one} isOwn={isOwn} />
      <Facts of={one} />
      {isOwn ? <LateTexts classId={one.id} /> : null}
      {isOwn ? <Parts of={one} /> : <p className="text-soft">{t("classes.notYours")}</p>}
    </div>
  );
}

/** That a class is archived or a draft, what that means, and the way out. */
function Standing({ of, isOwn }: { of: Class; isOwn: boolean }) {
  const { t } = useTranslation();
  const status = useClassStatus(of);
  if (of.status === "ACTIVE") return null;
  return (
    <Bar
      action={
        isOwn ? (
          <Button isPending={status.isPending} onPress={() => status.set("ACTIVE")}>
            {of.status === "DRAFT" ? t("classes.publish") : t("classes.activate")}
          </Button>
        ) : undefined
      }
    >
      {of.status === "DRAFT" ? t("classes.isDraft") : t("classes.isArchived")}
    </Bar>
  );
}

function Parts({ of }: { of: Class }) {
  const { t } = useTranslation();
  const { tab = "students", ungrouped = false } = Route.useSearch();
  const navigate = Route.useNavigate();
  const groups = (useQuery(unassignedGroupsQuery).data ?? []).filter((group) => group.classId === of.id);
  const topics = (useQuery(unassignedTopicsQuery).data ?? []).filter((topic) => topic.classId === of.id);
  const loose = groups.length + topics.length;
  const mayChange = of.status !== "ARCHIVED";
  const shown: Record<Part, ReactNode> = {
    students: <Roster classId={of.id} mayChange={mayChange} isUngrouped={ungrouped} onUngrouped={(isOn) => void navigate({ search: isOn ? { ungrouped: true } : {}, replace: true })} />,
    courses: <ClassCourses of={of} mayChange={mayChange} />,
    teachers: <Teachers of={of} mayChange={mayChange} />,
    loose: <UnassignedWork groups={groups} topics={topics} mayChange={mayChange} />,
  };
  const names: Record<Part, string> = { students: t("courses.studentsTab"), courses: t("nav.courses"), teachers: t("classes.teachersTab"), loose: t("courses.loose") };
  const counts: Record<Part, number | undefined> = { students: of.counts?.students, courses: of.counts?.courses, teachers: 1 + (of.coTeachers?.length ?? 0), loose };
  return (
    <Tabs<Part>
      label={t("classes.title", { name: of.name })}
      open={tab}
      onOpen={(part) => void navigate({ search: part === "students" ? {} : { tab: part }, replace: true })}
      parts={PARTS.filter((part) => part !== "loose" || loose > 0 || tab === "loose").map((part) => ({ id: part, name: names[part], count: counts[part], content: () => shown[part] }))}
    />
  );
}

function ClassCourses({ of, mayChange }: { of: Class; mayChange: boolean }) {
  const { t } = useTranslation();
  const found = useQuery(coursesQuery);
  const [isOpen, setIsOpen] = useState(false);
  if (found.isPending) return <Shape />;
  if (!found.data) return <Problems problem={found.error} again={() => void found.refetch()} />;
  const own = found.data.filter((course) => course.classId === of.id);
  const add = mayChange ? <Button onPress={() => setIsOpen(true)}>{t("courses.new")}</Button> : undefined;
  return (
    <div className="flex flex-col items-stretch gap-3">
      {own.length === 0 ? <Empty action={add}>{t("courses.noneIn", { where: of.name })}</Empty> : <span>{add}</span>}
      <ul className="flex flex-col gap-2">
        {own.map((course) => (
          <CourseRow key={course.id} course={course} isManaged={mayChange} hasClass={false} />
        ))}
      </ul>
      {isOpen ? <CourseDialog classId={of.id} onClose={() => setIsOpen(false)} /> : null}
    </div>
  );
}
