import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { type Class, classes } from "../../classes/classes";
import { ClassWindow } from "../../classes/ClassWindow";
import { type Course, courses, looseGroups, looseTopics, subjects } from "../../courses/courses";
import { CourseTree } from "../../courses/CourseTree";
import { CourseWindow } from "../../courses/CourseWindow";
import { Find } from "../../courses/Find";
import { Folder } from "../../courses/Folder";
import { folders, type Place, placeOf, STATUSES } from "../../courses/folders";
import { Loose } from "../../courses/Loose";
import { isAdmin, isStaff, only } from "../../lib/session";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Empty } from "../../ui/Empty";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";

export const Route = createFileRoute("/_school/courses/")({ beforeLoad: only(isStaff), validateSearch: placeOf, component: Courses });

/** S3: courses as folders: class, subject, course, groups. */
function Courses() {
  const allClasses = useQuery(classes);
  const allCourses = useQuery(courses);
  const problem = allClasses.error ?? allCourses.error;
  return (
    <div className="flex flex-col gap-4">
      <Top />
      {allClasses.data && allCourses.data ? (
        <Shelf classes={allClasses.data} courses={allCourses.data} />
      ) : problem ? (
        <Problems
          problem={problem}
          again={() => {
            void allClasses.refetch();
            void allCourses.refetch();
          }}
        />
      ) : (
        <Shape count={6} />
      )}
    </div>
  );
}

/** Name, filters, and what can be made. */
function Top() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const place = Route.useSearch();
  const navigate = Route.useNavigate();
  const taught = useQuery(subjects).data ?? [];
  const [open, setOpen] = useState<"course" | "class">();
  const go = (change: { [K in keyof Place]: Place[K] | undefined }) =>
    void navigate({ search: (before) => Object.fromEntries(Object.entries({ ...before, loose: undefined, ...change }).filter(([, value]) => value !== undefined)) as Place });
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <span className="me-auto">
          <Heading title={t("nav.courses")}>{t("nav.courses")}</Heading>
        </span>
        <Button kind="main" onPress={() => setOpen("course")}>
          {t("courses.new")}
        </Button>
        <Button onPress={() => setOpen("class")}>{t("classes.new")}</Button>
      </div>
      <search className="grid grid-cols-2 gap-3 lg:grid-cols-[2fr_1fr_1fr_1fr]">
        <div className="col-span-2 lg:col-span-1">
          <Find />
        </div>
        <Choice
          label={t("courses.subject")}
          options={[{ id: "", name: t("app.all") }, ...taught.map((subject) => ({ id: subject.id, name: subject.name }))]}
          value={place.subject ?? ""}
          onChange={(subject) => go({ subject: subject || undefined })}
        />
        <Choice
          label={t("courses.statusLabel")}
          options={STATUSES.map((status) => ({ id: status, name: t(`courses.status.${status}`) }))}
          value={place.status ?? "ACTIVE"}
          onChange={(status) => go({ status: status === "ACTIVE" ? undefined : status })}
        />
        {isAdmin(person) ? null : (
          <Choice
            label={t("courses.whose")}
            options={[
              { id: "own", name: t("courses.own") },
              { id: "everyone", name: t("courses.everyone") },
            ]}
            value={place.everyone ? "everyone" : "own"}
            onChange={(whose) => go({ everyone: whose === "everyone" ? true : undefined })}
          />
        )}
      </search>
      {open === "course" ? <CourseWindow classId={place.class} subjectId={place.subject} onClose={() => setOpen(undefined)} /> : null}
      {open === "class" ? <ClassWindow onClose={() => setOpen(undefined)} onMade={(made) => void navigate({ to: "/classes/$classId", params: { classId: made.id } })} /> : null}
    </>
  );
}

/** The tree, and beside it what is in the chosen folder. */
function Shelf({ classes: all, courses: every }: { classes: readonly Class[]; courses: readonly Course[] }) {
  const { t } = useTranslation();
  const place = Route.useSearch();
  const navigate = Route.useNavigate();
  const taught = useQuery(subjects).data ?? [];
  const groups = useQuery(looseGroups).data ?? [];
  const topics = useQuery(looseTopics).data ?? [];
  const found = folders(all, every, place);
  const loose = groups.length + topics.length;
  if (found.length === 0 && loose === 0 && place.status === undefined) return <Empty>{t("classes.none")}</Empty>;
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[18rem_1fr]">
      <div className="hidden lg:block">
        <CourseTree
          found={found}
          place={place}
          loose={loose}
          onPlace={(to) => void navigate({ search: ({ status, everyone }) => ({ ...(status ? { status } : {}), ...(everyone ? { everyone } : {}), ...to }) })}
        />
      </div>
      {place.loose ? <Loose groups={groups} topics={topics} /> : <Folder found={found} subjects={taught} place={place} loose={loose} />}
    </div>
  );
}
