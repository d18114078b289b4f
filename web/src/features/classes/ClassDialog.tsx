import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouteContext } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { activeSubjectsQuery } from "../courses/courses";
import { serverNow } from "../../hooks/serverClock";
import { fieldError } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { isAdmin } from "../../auth/session";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { DateTimeField } from "../../forms/DateTimeField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { RadioGroup } from "../../forms/RadioGroup";
import { Dialog } from "../../components/Dialog";
import { type Class, userSearchQuery, schoolYear } from "./classes";
import { TimetableFields, type TimetableEntry } from "./TimetableFields";
import { homeroomsQuery } from "../homerooms/homerooms";

interface Props {
  /** The class to edit; undefined for a new one. */
  schoolClass?: Class;
  onClose: () => void;
  onMade?: (made: Class) => void;
}

/** Creates or edits a class. */
export function ClassDialog(props: Props) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={props.schoolClass ? t("classes.change", { name: props.schoolClass.name }) : t("classes.new")}
      isWide
      isOpen
      onOpenChange={(isOpen) => isOpen || props.onClose()}
    >
      {(close) => <ClassForm {...props} close={close} />}
    </Dialog>
  );
}

/** Value of "none" in optional selects. */
const NONE = "";

const initialForm = (schoolClass: Class | undefined) => ({
  name: schoolClass?.name ?? "",
  academicYear: schoolClass?.academicYear ?? schoolYear(new Date(serverNow())),
  semester: schoolClass?.semester ?? "",
  status: schoolClass?.status ?? ("ACTIVE" as const),
  startDate: schoolClass?.startDate ?? null,
  endDate: schoolClass?.endDate ?? null,
  subjectIds: (schoolClass?.subjects ?? []).map((subject) => subject.id),
  homeroomId: schoolClass?.homeroomId ?? NONE,
  enrollHomeroom: true,
  teacherId: schoolClass?.teacherId ?? null,
  externalId: schoolClass?.externalId ?? "",
  schedule: (schoolClass?.schedule ?? []) as TimetableEntry[],
});
type ClassFormValues = ReturnType<typeof initialForm>;

function ClassForm({ schoolClass, close, onMade }: Props & { close: () => void }) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const [values, setValues] = useState(() => initialForm(schoolClass));
  const set = (change: Partial<ClassFormValues>) => setValues((before) => ({ ...before, ...change }));
  const save = useSaveClass(schoolClass, (saved) => {
    toast(schoolClass ? t("app.saved") : t("classes.made", { name: saved.name }));
    close();
    onMade?.(saved);
  });
  const at = (path: string) => {
    const problem = fieldError(save.error, path);
    return problem === undefined ? {} : { problem };
  };
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(values);
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t("classes.name")}
          value={values.name}
          onChange={(name) => set({ name })}
          isRequired
          maxLength={120}
          autoComplete="off"
          {...at("name")}
        />
        <TextField
          label={t("classes.year")}
          value={values.academicYear}
          onChange={(academicYear) => set({ academicYear })}
          isRequired
          maxLength={20}
          autoComplete="off"
          {...at("academicYear")}
        />
      </div>
      <SubjectSelect
        chosen={values.subjectIds}
        onChange={(subjectIds) => set({ subjectIds })}
        known={schoolClass?.subjects ?? []}
      />
      <HomeroomFields values={values} set={set} isNew={schoolClass === undefined} />
      {isAdmin(person) ? (
        <OwnerSelect schoolClass={schoolClass} value={values.teacherId} onChange={(teacherId) => set({ teacherId })} />
      ) : null}
      {schoolClass?.status === "ARCHIVED" ? null : (
        <RadioGroup
          label={t("classes.statusLabel")}
          options={(["ACTIVE", "DRAFT"] as const).map((status) => ({ id: status, name: t(`classes.long.${status}`) }))}
          value={values.status === "ARCHIVED" ? "ACTIVE" : values.status}
          onChange={(status) => set({ status })}
        />
      )}
      <details>
        <summary className="text-accent min-h-11 cursor-pointer py-2 font-medium">{t("classes.more")}</summary>
        <div className="flex flex-col gap-4 pt-2">
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={t("classes.semester")}
              value={values.semester}
              onChange={(semester) => set({ semester })}
              maxLength={20}
              autoComplete="off"
              {...at("semester")}
            />
            <TextField
              label={t("classes.externalId")}
              value={values.externalId}
              onChange={(externalId) => set({ externalId })}
              maxLength={120}
              autoComplete="off"
              {...at("externalId")}
            />
            <DateTimeField
              label={t("classes.start")}
              value={values.startDate}
              onChange={(startDate) => set({ startDate })}
              problem={fieldError(save.error, "startDate")}
            />
            <DateTimeField
              label={t("classes.end")}
              value={values.endDate}
              onChange={(endDate) => set({ endDate })}
              problem={fieldError(save.error, "endDate")}
            />
          </div>
          <TimetableFields lessons={values.schedule} onChange={(schedule) => set({ schedule })} />
        </div>
      </details>
      {save.isError ? <ErrorMessage problem={save.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button type="submit" kind="main" isPending={save.isPending}>
          {schoolClass ? t("app.save") : t("classes.make")}
        </Button>
      </p>
    </Form>
  );
}

function SubjectSelect({
  chosen,
  onChange,
  known,
}: {
  chosen: string[];
  onChange: (ids: string[]) => void;
  known: readonly { id: string; name: string }[];
}) {
  const { t } = useTranslation();
  const taught = useQuery(activeSubjectsQuery).data ?? [];
  const all = [...taught, ...known.filter((one) => !taught.some((subject) => subject.id === one.id))];
  return (
    <fieldset>
      <legend className="font-medium">{t("classes.subjects")}</legend>
      {all.length === 0 ? <p className="text-soft text-sm">{t("classes.noSubjects")}</p> : null}
      <div className="grid gap-x-4 sm:grid-cols-3">
        {all.map((subject) => (
          <Checkbox
            key={subject.id}
            isSelected={chosen.includes(subject.id)}
            onChange={(isOn) => onChange(isOn ? [...chosen, subject.id] : chosen.filter((id) => id !== subject.id))}
          >
            {subject.name}
          </Checkbox>
        ))}
      </div>
    </fieldset>
  );
}

function HomeroomFields({
  values,
  set,
  isNew,
}: {
  values: ClassFormValues;
  set: (change: Partial<ClassFormValues>) => void;
  isNew: boolean;
}) {
  const { t } = useTranslation();
  const found = useQuery(homeroomsQuery).data ?? [];
  if (found.length === 0) return null;
  return (
    <div>
      <Select
        label={t("classes.homeroom")}
        options={[
          { id: NONE, name: t("classes.noHomeroom") },
          ...found.map((one) => ({ id: one.id, name: [one.name, one.academicYear].filter(Boolean).join(" · ") })),
        ]}
        value={values.homeroomId}
        onChange={(homeroomId) => set({ homeroomId })}
      />
      {isNew && values.homeroomId !== NONE ? (
        <Checkbox isSelected={values.enrollHomeroom} onChange={(enrollHomeroom) => set({ enrollHomeroom })}>
          {t("classes.enrollHomeroom")}
        </Checkbox>
      ) : null}
    </div>
  );
}

/** Owner of the class; administrators may change it. */
function OwnerSelect({
  schoolClass,
  value,
  onChange,
}: {
  schoolClass: Class | undefined;
  value: string | null;
  onChange: (id: string) => void;
}) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const teachers = useQuery(userSearchQuery("TEACHER", "", 200)).data ?? [];
  const known = [...(schoolClass ? [schoolClass.teacher] : []), { id: person.id, name: person.name }, ...teachers];
  const options = known.filter((one, index) => known.findIndex((other) => other.id === one.id) === index);
  return (
    <Select
      label={t("classes.owner")}
      options={options.map((one) => ({ id: one.id, name: one.name }))}
      value={value ?? person.id}
      onChange={onChange}
    />
  );
}

function useSaveClass(schoolClass: Class | undefined, onSaved: (saved: Class) => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (values: ClassFormValues) => {
      const { enrollHomeroom, teacherId, ...rest } = values;
      const body = {
        ...rest,
        semester: rest.semester || null,
        externalId: rest.externalId || null,
        homeroomId: rest.homeroomId || null,
        schedule: rest.schedule.length === 0 ? null : rest.schedule,
      };
      if (schoolClass === undefined) {
        return unwrap(
          client.POST("/classes", {
            body: { ...body, ...(teacherId ? { teacherId } : {}), ...(body.homeroomId ? { enrollHomeroom } : {}) },
          }),
        );
      }
      const owner = teacherId !== null && teacherId !== schoolClass.teacherId ? { teacherId } : {};
      return unwrap(
        client.PATCH("/classes/{id}", { params: { path: { id: schoolClass.id } }, body: { ...body, ...owner } }),
      );
    },
    onSuccess: async (saved) => {
      await invalidate(cache, "classes", "courses");
      onSaved(saved);
    },
  });
}
