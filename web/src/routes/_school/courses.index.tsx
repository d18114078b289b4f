import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { type Class, classesQuery } from "../../features/classes/classes";
import { ClassDialog } from "../../features/classes/ClassDialog";
import {
  type Course,
  coursesQuery,
  unassignedGroupsQuery,
  unassignedTopicsQuery,
} from "../../features/courses/courses";
import { CourseTree } from "../../features/courses/CourseTree";
import { CourseDialog } from "../../features/courses/CourseDialog";
import { CourseSearch } from "../../features/courses/CourseSearch";
import { CourseFolder } from "../../features/courses/CourseFolder";
import { buildFolders, countUnassigned, subjectsOf } from "../../features/courses/folders";
import { UnassignedWork } from "../../features/courses/UnassignedWork";
import { isAdmin, isStaff, requireRole } from "../../auth/session";
import { Button } from "../../components/Button";
import { OptionalSelect, Select } from "../../forms/Select";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeader } from "../../components/PageHeader";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Skeleton } from "../../components/base/Skeleton";
import { type FolderLocation, parseLocation, STATUSES } from "../../features/courses/location";

export const Route = createFileRoute("/_school/courses/")({
  beforeLoad: requireRole(isStaff),
  validateSearch: parseLocation,
  component: Courses,
});

/** Courses as folders: class, subject, course, groups. */
function Courses() {
  const allClasses = useQuery(classesQuery);
  const allCourses = useQuery(coursesQuery);
  const problem = allClasses.error ?? allCourses.error;
  const subjects = subjectsOf(allClasses.data ?? [], allCourses.data ?? []);
  return (
    <div className="flex flex-col gap-4">
      <CoursesHeader subjects={subjects} />
      {allClasses.data && allCourses.data ? (
        <CourseFolders classes={allClasses.data} courses={allCourses.data} subjects={subjects} />
      ) : problem ? (
        <ErrorMessage
          problem={problem}
          onRetry={() => {
            void allClasses.refetch();
            void allCourses.refetch();
          }}
        />
      ) : (
        <Skeleton count={6} />
      )}
    </div>
  );
}

/** Search, filters, and buttons that create. */
function CoursesHeader({ subjects }: { subjects: readonly { id: string; name: string }[] }) {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const location = Route.useSearch();
  const navigate = Route.useNavigate();
  const [open, setOpen] = useState<"course" | "class">();
  const updateSearch = (change: { [K in keyof FolderLocation]: FolderLocation[K] | undefined }) =>
    void navigate({
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, loose: undefined, ...change }).filter(([, value]) => value !== undefined),
        ) as FolderLocation,
    });
  return (
    <>
      <PageHeader title={t("nav.courses")}>
        <Link to="/courses/deleted" className="inline-flex min-h-11 items-center px-2">
          {t("deletions.title")}
        </Link>
        <Button onPress={() => setOpen("class")}>{t("classes.new")}</Button>
        <Button kind="main" onPress={() => setOpen("course")}>
          {t("courses.new")}
        </Button>
      </PageHeader>
      <search className="grid grid-cols-2 gap-3 lg:grid-cols-[2fr_1fr_1fr_1fr]">
        <div className="col-span-2 lg:col-span-1">
          <CourseSearch />
        </div>
        <OptionalSelect
          label={t("courses.subject")}
          none={t("app.all")}
          options={subjects}
          value={location.subject ?? null}
          onChange={(subject) => updateSearch({ subject: subject ?? undefined })}
        />
        <Select
          label={t("courses.statusLabel")}
          options={STATUSES.map((status) => ({ id: status, name: t(`courses.status.${status}`) }))}
          value={location.status ?? "ACTIVE"}
          onChange={(status) => updateSearch({ status: status === "ACTIVE" ? undefined : status })}
        />
        {isAdmin(person) ? null : (
          <Select
            label={t("courses.whose")}
            options={[
              { id: "own", name: t("courses.own") },
              { id: "everyone", name: t("courses.everyone") },
            ]}
            value={location.everyone ? "everyone" : "own"}
            onChange={(whose) => updateSearch({ everyone: whose === "everyone" ? true : undefined })}
          />
        )}
      </search>
      {open === "course" ? (
        <CourseDialog classId={location.class} subjectId={location.subject} onClose={() => setOpen(undefined)} />
      ) : null}
      {open === "class" ? (
        <ClassDialog
          onClose={() => setOpen(undefined)}
          onMade={(made) => void navigate({ to: "/classes/$classId", params: { classId: made.id } })}
        />
      ) : null}
    </>
  );
}

/** The tree, and the content of the selected folder next to it. */
function CourseFolders({
  classes: all,
  courses: allCourses,
  subjects,
}: {
  classes: readonly Class[];
  courses: readonly Course[];
  subjects: readonly { id: string; name: string }[];
}) {
  const { t } = useTranslation();
  const location = Route.useSearch();
  const navigate = Route.useNavigate();
  const groups = useQuery({ ...unassignedGroupsQuery, enabled: location.loose === true });
  const topics = useQuery({ ...unassignedTopicsQuery, enabled: location.loose === true });
  const found = buildFolders(all, allCourses, location);
  const unassigned = countUnassigned(all, allCourses);
  if (found.length === 0 && unassigned === 0 && location.status === undefined)
    return <EmptyState>{t("classes.none")}</EmptyState>;
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[18rem_1fr]">
      <div className="hidden lg:block">
        <CourseTree
          folders={found}
          location={location}
          unassigned={unassigned}
          onLocation={(to) =>
            void navigate({
              search: ({ status, everyone }) => ({
                ...(status ? { status } : {}),
                ...(everyone ? { everyone } : {}),
                ...to,
              }),
            })
          }
        />
      </div>
      {location.loose ? (
        groups.data && topics.data ? (
          <UnassignedWork groups={groups.data} topics={topics.data} />
        ) : (
          <ListSkeleton />
        )
      ) : (
        <CourseFolder folders={found} subjects={subjects} location={location} unassigned={unassigned} />
      )}
    </div>
  );
}
