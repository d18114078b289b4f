import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { isManaged, classQuery } from "../../features/classes/classes";
import {
  courseQuery as oneCourse,
  type CourseDetail,
  courseGroupsQuery,
  courseTopicsQuery,
} from "../../features/courses/courses";
import { CourseMenu, useCourseStatus } from "../../features/courses/CourseMenu";
import { CourseFiles } from "../../features/courses/CourseFiles";
import { CourseGroups } from "../../features/courses/CourseGroups";
import { CourseOutline } from "../../features/courses/CourseOutline";
import { CourseStudents } from "../../features/courses/CourseStudents";
import { CourseTopics } from "../../features/courses/CourseTopics";
import { Breadcrumbs } from "../../features/courses/Breadcrumbs";
import { isStaff, requireRole } from "../../auth/session";
import { LockBanner } from "../../components/base/LockBanner";
import { buttonClass, Button } from "../../components/Button";
import { PageHeader } from "../../components/PageHeader";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Tabs } from "../../components/Tabs";

const COURSE_TABS = ["topics", "groups", "students", "files"] as const;
type CourseTab = (typeof COURSE_TABS)[number];

export const Route = createFileRoute("/_school/courses/$courseId/")({
  beforeLoad: requireRole(isStaff),
  validateSearch: (search: Record<string, unknown>): { tab?: Exclude<CourseTab, "topics"> } => {
    const tab = COURSE_TABS.find((part) => part === search.tab);
    return tab === undefined || tab === "topics" ? {} : { tab };
  },
  component: Course,
});

/** A course with its topics, groups, students and files. */
function Course() {
  const { courseId } = Route.useParams();
  const found = useQuery(oneCourse(courseId));
  const within = useQuery({ ...classQuery(found.data?.classId ?? ""), enabled: found.data !== undefined });
  if (found.data && within.data)
    return <OpenCourse course={found.data} isOwn={isManaged(within.data)} students={within.data.counts?.students} />;
  const problem = found.error ?? within.error;
  if (problem) {
    return (
      <ErrorMessage
        problem={problem}
        onRetry={() => {
          void found.refetch();
          void within.refetch();
        }}
      />
    );
  }
  return <Skeleton count={6} />;
}

function OpenCourse({
  course,
  isOwn,
  students,
}: {
  course: CourseDetail;
  isOwn: boolean;
  students: number | undefined;
}) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const canChange = isOwn && course.class.status !== "ARCHIVED";
  const canAdd = canChange && course.status === "ACTIVE";
  return (
    <div className="flex flex-col gap-4">
      <PageHeader
        title={course.name}
        breadcrumbs={
          <Breadcrumbs
            steps={[
              { name: t("nav.courses"), location: {} },
              { name: course.class.name, location: { class: course.classId } },
              { name: course.subject.name, location: { class: course.classId, subject: course.subjectId } },
            ]}
          />
        }
      >
        {canChange ? (
          <CourseMenu
            course={course}
            onDeleted={() => void navigate({ to: "/courses", search: { class: course.classId } })}
          />
        ) : null}
        {isOwn ? (
          <Link
            to="/classes/$classId/grades"
            params={{ classId: course.classId }}
            search={{ course: course.id }}
            className={buttonClass()}
          >
            {t("courses.gradeBook")}
          </Link>
        ) : null}
        {canAdd ? (
          <>
            <GroupMakerLink courseId={course.id} />
            <NewTopicLink courseId={course.id} />
          </>
        ) : null}
      </PageHeader>
      {course.description === null ? null : <p className="max-w-prose whitespace-pre-line">{course.description}</p>}
      <ArchivedNotice course={course} isOwn={isOwn} />
      {isOwn ? (
        <CourseTabs course={course} students={students} canAdd={canAdd} canChange={canChange} />
      ) : (
        <CourseOutline course={course} />
      )}
    </div>
  );
}

function NewTopicLink({ courseId }: { courseId: string }) {
  const { t } = useTranslation();
  return (
    <Link to="/topics/new" search={{ courseId }} className={buttonClass("main")}>
      {t("courses.newTopic")}
    </Link>
  );
}

function GroupMakerLink({ courseId }: { courseId: string }) {
  const { t } = useTranslation();
  return (
    <Link to="/courses/$courseId/divide" params={{ courseId }} className={buttonClass()}>
      {t("courses.divide")}
    </Link>
  );
}

/** Explains why nothing can be added here, and offers to reactivate. */
function ArchivedNotice({ course, isOwn }: { course: CourseDetail; isOwn: boolean }) {
  const { t } = useTranslation();
  const status = useCourseStatus(course);
  if (course.class.status === "ARCHIVED") {
    return (
      <LockBanner
        action={
          <Link to="/classes/$classId" params={{ classId: course.classId }} className={buttonClass()}>
            {t("courses.toClass")}
          </Link>
        }
      >
        {t("courses.classIsArchived", { class: course.class.name })}
      </LockBanner>
    );
  }
  if (course.status === "ACTIVE") return null;
  return (
    <LockBanner
      action={
        isOwn ? (
          <Button isPending={status.isPending} onPress={() => status.set("ACTIVE")}>
            {t("courses.activate")}
          </Button>
        ) : undefined
      }
    >
      {t("courses.isArchived")}
    </LockBanner>
  );
}

interface CourseTabsProps {
  course: CourseDetail;
  students: number | undefined;
  canAdd: boolean;
  canChange: boolean;
}

function CourseTabs({ course, students, canAdd, canChange }: CourseTabsProps) {
  const { t } = useTranslation();
  const { tab = "topics" } = Route.useSearch();
  const navigate = Route.useNavigate();
  const topics = useQuery(courseTopicsQuery(course.id));
  const groups = useQuery(courseGroupsQuery(course.id));
  if (!topics.data || !groups.data) {
    const problem = topics.error ?? groups.error;
    if (!problem) return <Skeleton count={4} />;
    return (
      <ErrorMessage
        problem={problem}
        onRetry={() => {
          void topics.refetch();
          void groups.refetch();
        }}
      />
    );
  }
  const both = { topics: topics.data, groups: groups.data };
  const files =
    both.topics.reduce((sum, topic) => sum + topic.attachments.length, 0) +
    both.groups.reduce((sum, group) => sum + group.attachments.length, 0);
  const { id, classId } = course;
  const shown: Record<CourseTab, ReactNode> = {
    topics: <CourseTopics {...both} canAdd={canAdd} newTopicLink={<NewTopicLink courseId={id} />} />,
    groups: (
      <CourseGroups
        groups={both.groups}
        topics={both.topics}
        classId={classId}
        courseId={id}
        canAdd={canAdd}
        canChange={canChange}
        toDivide={<GroupMakerLink courseId={id} />}
      />
    ),
    students: <CourseStudents classId={classId} groups={both.groups} canChange={canChange} />,
    files: <CourseFiles {...both} canChange={canChange} />,
  };
  const names: Record<CourseTab, string> = {
    topics: t("courses.topicsTab"),
    groups: t("courses.groupsTab"),
    students: t("courses.studentsTab"),
    files: t("courses.filesTab"),
  };
  const counts: Record<CourseTab, number | undefined> = {
    topics: both.topics.length,
    groups: both.groups.length,
    students,
    files,
  };
  return (
    <Tabs<CourseTab>
      label={course.name}
      open={tab}
      onOpen={(part) => void navigate({ search: part === "topics" ? {} : { tab: part } })}
      parts={COURSE_TABS.map((part) => ({
        id: part,
        name: names[part],
        count: counts[part],
        content: () => shown[part],
      }))}
    />
  );
}
