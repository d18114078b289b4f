import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouteContext } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { classesQuery, isManaged } from "../classes/classes";
import { fieldError, useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { isAdmin } from "../../auth/session";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import { type Course, activeSubjectsQuery } from "./courses";
import { Problem } from "../../api/client";

interface Props {
  /** The course to edit; undefined for a new one. */
  course?: Course;
  /** Default location of a new course. */
  classId?: string | undefined;
  subjectId?: string | undefined;
  onClose: () => void;
  onMade?: (course: Course) => void;
}

/** Creates a course, or edits its texts and location. */
export function CourseDialog(props: Props) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={props.course ? t("courses.change", { name: props.course.name }) : t("courses.new")}
      isOpen
      onOpenChange={(isOpen) => isOpen || props.onClose()}
    >
      {(close) => <CourseForm {...props} close={close} />}
    </Dialog>
  );
}

/** Value of the option for a new subject. */
const NEW = "new";

function CourseForm({ course, classId, subjectId, close, onMade }: Props & { close: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const [name, setName] = useState(course?.name ?? "");
  const [description, setDescription] = useState(course?.description ?? "");
  const [within, setWithin] = useState(course?.classId ?? classId ?? null);
  const [subject, setSubject] = useState(course?.subjectId ?? subjectId ?? null);
  const [newSubject, setNewSubject] = useState("");
  const [isAsked, setIsAsked] = useState(false);
  const options = useOptions(course);
  const isEmpty = course === undefined || course.counts.groups + course.counts.assignments === 0;
  const save = useSaveCourse(course, (saved) => {
    toast(course ? t("app.saved") : t("courses.made", { name: saved.name }));
    close();
    onMade?.(saved);
  });
  const isDuplicate = save.error instanceof Problem && save.error.code === "DUPLICATE_COURSE";
  const isSubjectTaken = save.error instanceof Problem && save.error.code === "DUPLICATE_SUBJECT";
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setIsAsked(true);
        if (within !== null && subject !== null)
          save.mutate({ name, description, classId: within, subjectId: subject, newSubject });
      }}
    >
      <TextField
        label={t("courses.name")}
        value={name}
        onChange={setName}
        isRequired
        maxLength={120}
        autoComplete="off"
        {...conflictOf(isDuplicate ? errorText(save.error) : fieldError(save.error, "name"))}
      />
      <Select
        label={t("courses.class")}
        options={options.classes}
        value={within}
        onChange={setWithin}
        none={t("courses.choose")}
        isDisabled={!isEmpty}
        problem={isAsked && within === null ? t("courses.chooseClass") : undefined}
      />
      {isEmpty ? null : <p className="text-soft -mt-3 text-sm">{t("courses.staysInClass")}</p>}
      <Select
        label={t("courses.subject")}
        options={options.subjects}
        value={subject}
        onChange={setSubject}
        none={t("courses.choose")}
        problem={isAsked && subject === null ? t("courses.chooseSubject") : undefined}
      />
      {subject === NEW ? (
        <TextField
          label={t("courses.subjectName")}
          value={newSubject}
          onChange={setNewSubject}
          isRequired
          maxLength={80}
          autoComplete="off"
          {...conflictOf(isSubjectTaken ? errorText(save.error) : undefined)}
        />
      ) : null}
      <TextArea
        label={t("courses.description")}
        value={description}
        onChange={setDescription}
        maxLength={5000}
        rows={3}
        problem={fieldError(save.error, "description")}
      />
      {save.isError && !isDuplicate && !isSubjectTaken ? <ErrorMessage problem={save.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button type="submit" kind="main" isPending={save.isPending}>
          {course ? t("app.save") : t("courses.make")}
        </Button>
      </p>
    </Form>
  );
}

const conflictOf = (problem: string | undefined) => (problem === undefined ? {} : { problem });

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

interface CourseInput {
  name: string;
  description: string;
  classId: string;
  subjectId: string;
  newSubject: string;
}

function useSaveCourse(course: Course | undefined, onSaved: (course: Course) => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async ({ newSubject, ...wish }: CourseInput) => {
      const subjectId =
        wish.subjectId === NEW
          ? (await unwrap(client.POST("/subjects", { body: { name: newSubject } }))).id
          : wish.subjectId;
      const body = { name: wish.name, description: wish.description || null, subjectId };
      if (course === undefined) return unwrap(client.POST("/courses", { body: { ...body, classId: wish.classId } }));
      const moved = wish.classId === course.classId ? {} : { classId: wish.classId };
      return unwrap(
        client.PATCH("/courses/{id}", { params: { path: { id: course.id } }, body: { ...body, ...moved } }),
      );
    },
    onSuccess: async (saved) => {
      await invalidate(cache, "courses");
      onSaved(saved);
    },
    onSettled: () => invalidate(cache, "subjects", "classes", "groups", "assignments"),
  });
}
