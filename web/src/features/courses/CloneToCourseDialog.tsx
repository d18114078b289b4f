import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { toast } from "../../components/base/toast";
import { Checkbox } from "../../forms/Checkbox";
import { DateTimeField } from "../../forms/DateTimeField";
import { FormDialog } from "../../forms/FormDialog";
import { Select } from "../../forms/Select";
import { useForm } from "../../forms/useForm";
import { serverNow } from "../../hooks/serverClock";
import { classesQuery, isManaged } from "../classes/classes";
import type { ListedAssignment } from "../groups/groups";
import { coursesQuery } from "./courses";
import { isArchived } from "./folders";

const WEEK = 604_800_000;

/** Clones a topic into this or another course, with a new deadline. */
export function CloneToCourseDialog({ topic, onClose }: { topic: ListedAssignment; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const own = new Set((useQuery(classesQuery).data ?? []).filter(isManaged).map((one) => one.id));
  const open = (useQuery(coursesQuery).data ?? []).filter((course) => own.has(course.classId) && !isArchived(course));
  const findCourse = (id: string | null) => open.find((course) => course.id === id);
  const form = useForm({
    initial: (): { courseId: string | null; deadline: string | null; withFiles: boolean } => ({
      courseId: topic.courseId,
      deadline: new Date(Math.max(Date.parse(topic.deadline), serverNow()) + WEEK).toISOString(),
      withFiles: true,
    }),
    send: ({ courseId, deadline, withFiles }) =>
      unwrap(
        client.POST("/assignments/{id}/clone", {
          params: { path: { id: topic.id } },
          body: {
            courseId: courseId ?? "",
            classId: findCourse(courseId)?.classId ?? "",
            deadline: deadline ?? "",
            withFiles,
          },
        }),
      ),
    refreshes: ["assignments", "courses"],
    onSent: (made) => {
      toast(t("courses.cloned", { title: made.title }));
      onClose();
      return navigate({ to: "/topics/$topicId", params: { topicId: made.id } });
    },
  });
  const target = findCourse(form.values.courseId);
  return (
    <FormDialog
      title={t("courses.cloneTitle", { title: topic.title })}
      form={form}
      submitLabel={t("courses.cloneYes")}
      isIncomplete={target === undefined || form.values.deadline === null}
      onClose={onClose}
    >
      <Select
        label={t("courses.intoCourse")}
        options={open.map((course) => ({
          id: course.id,
          name: `${course.name} · ${course.class.name} · ${course.subject.name}`,
        }))}
        none={t("courses.choose")}
        {...form.field("courseId")}
        value={target?.id ?? null}
      />
      <DateTimeField label={t("courses.deadline")} isRequired {...form.field("deadline")} />
      <Checkbox {...form.check("withFiles")}>{t("courses.withFiles")}</Checkbox>
      <p className="text-soft text-sm">{t("courses.cloneText")}</p>
    </FormDialog>
  );
}
