import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouteContext } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { invalidate } from "../../api/queryKeys";
import { isAdmin } from "../../auth/session";
import { toast } from "../../components/base/toast";
import { FormDialog } from "../../forms/FormDialog";
import { Select } from "../../forms/Select";
import { TextArea } from "../../forms/TextArea";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { classesQuery, isManaged } from "../classes/classes";
import { type Course, activeSubjectsQuery } from "./courses";

interface Props {
  /** The course to edit; undefined for a new one. */
  course?: Course;
  /** Default location of a new course. */
  classId?: string | undefined;
  subjectId?: string | undefined;
  onClose: () => void;
  onMade?: (course: Course) => void;
}

/** Value of the option for a new subject. */
const NEW = "new";

/** Creates a course, or edits its texts and location. */
export function CourseDialog({ course, classId, subjectId, onClose, onMade }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const options = useOptions(course);
  const isEmpty = course === undefined || course.counts.groups + course.counts.assignments === 0;
  const form = useForm({
    initial: {
      name: course?.name ?? "",
      description: course?.description ?? "",
      classId: course?.classId ?? classId ?? null,
      subjectId: course?.subjectId ?? subjectId ?? null,
      newSubject: "",
    },
    send: (values) => saveCourse(course, values),
    refreshes: ["courses"],
    onSent: (saved) => {
      toast(course ? t("app.saved") : t("courses.made", { name: saved.name }));
      onClose();
      onMade?.(saved);
    },
    onSettled: () => invalidate(cache, "subjects", "classes", "groups", "assignments"),
    codes: { DUPLICATE_COURSE: "name", DUPLICATE_SUBJECT: "newSubject" },
  });
  return (
    <FormDialog
      title={course ? t("courses.change", { name: course.name }) : t("courses.new")}
      form={form}
      submitLabel={course ? t("app.save") : t("courses.make")}
      onClose={onClose}
    >
      <TextField label={t("courses.name")} isRequired maxLength={120} {...form.field("name")} />
      <Select
        label={t("courses.class")}
        options={options.classes}
        none={t("courses.choose")}
        hint={isEmpty ? undefined : t("courses.staysInClass")}
        isRequired
        isDisabled={!isEmpty}
        {...form.field("classId")}
      />
      <Select
        label={t("courses.subject")}
        options={options.subjects}
        none={t("courses.choose")}
        isRequired
        {...form.field("subjectId")}
      />
      {form.values.subjectId === NEW ? (
        <TextField label={t("courses.subjectName")} isRequired maxLength={80} {...form.field("newSubject")} />
      ) : null}
      <TextArea label={t("courses.description")} maxLength={5000} rows={3} {...form.field("description")} />
    </FormDialog>
  );
}

interface CourseValues {
  name: string;
  description: string;
  classId: string | null;
  subjectId: string | null;
  newSubject: string;
}

async function saveCourse(course: Course | undefined, values: CourseValues): Promise<Course> {
  const { name, description, newSubject } = values;
  const [classId, chosen] = [values.classId ?? "", values.subjectId ?? ""];
  const subjectId =
    chosen === NEW ? (await unwrap(client.POST("/subjects", { body: { name: newSubject } }))).id : chosen;
  const body = { name, description: description || null, subjectId };
  if (course === undefined) return unwrap(client.POST("/courses", { body: { ...body, classId } }));
  const moved = classId === course.classId ? {} : { classId };
  return unwrap(client.PATCH("/courses/{id}", { params: { path: { id: course.id } }, body: { ...body, ...moved } }));
}

/** Possible locations: active classes the reader manages, and offered subjects. */
function useOptions(course: Course | undefined) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const found = useQuery(classesQuery).data ?? [];
  const taught = useQuery(activeSubjectsQuery).data ?? [];
  const canAdd = isAdmin(person) || person.organization?.metadata?.features?.teachersAddSubjects === true;
  const open = found.filter((one) => one.id === course?.classId || (isManaged(one) && one.status !== "ARCHIVED"));
  const known = course !== undefined && !taught.some((one) => one.id === course.subjectId) ? [course.subject] : [];
  return {
    classes: open.map((one) => ({ id: one.id, name: `${one.name} · ${one.academicYear}` })),
    subjects: [
      ...[...taught, ...known].map((one) => ({ id: one.id, name: one.name })),
      ...(canAdd ? [{ id: NEW, name: t("courses.newSubject") }] : []),
    ],
  };
}
