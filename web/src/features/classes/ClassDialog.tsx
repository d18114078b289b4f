import { useQuery } from "@tanstack/react-query";
import { useRouteContext } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { FormDialog } from "../../forms/FormDialog";
import { type FormState, useForm } from "../../forms/useForm";
import { client, unwrap } from "../../api/client";
import { activeSubjectsQuery } from "../courses/courses";
import { serverNow } from "../../hooks/serverClock";
import { isAdmin } from "../../auth/session";
import { Checkbox } from "../../forms/Checkbox";
import { CheckboxList } from "../../forms/CheckboxList";
import { Disclosure } from "../../components/Disclosure";
import { OptionalSelect, Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { DateTimeField } from "../../forms/DateTimeField";
import { toast } from "../../components/base/toast";
import { RadioGroup } from "../../forms/RadioGroup";
import { type Class, userSearchQuery, schoolYear } from "./classes";
import { FollowPreview } from "./FollowPreview";
import { TimetableFields, type TimetableEntry } from "./TimetableFields";
import { homeroomLabel, homeroomsQuery } from "../homerooms/homerooms";

interface Props {
  /** The class to edit; undefined for a new one. */
  schoolClass?: Class;
  onClose: () => void;
  onMade?: (made: Class) => void;
}

const valuesOf = (schoolClass: Class | undefined) => ({
  name: schoolClass?.name ?? "",
  academicYear: schoolClass?.academicYear ?? schoolYear(new Date(serverNow())),
  semester: schoolClass?.semester ?? "",
  status: schoolClass?.status ?? ("ACTIVE" as const),
  startDate: schoolClass?.startDate ?? null,
  endDate: schoolClass?.endDate ?? null,
  subjectIds: (schoolClass?.subjects ?? []).map((subject) => subject.id),
  homeroomId: schoolClass?.homeroomId ?? null,
  followsHomeroom: schoolClass?.followsHomeroom ?? false,
  enrollHomeroom: true,
  teacherId: schoolClass?.teacherId ?? null,
  externalId: schoolClass?.externalId ?? "",
  schedule: (schoolClass?.schedule ?? []) as TimetableEntry[],
});
type ClassValues = ReturnType<typeof valuesOf>;

/** Creates or edits a class. */
export function ClassDialog({ schoolClass, onClose, onMade }: Props) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const form = useForm({
    initial: () => valuesOf(schoolClass),
    send: (values) => saveClass(schoolClass, values),
    refreshes: ["classes", "courses"],
    onSent: (saved) => {
      toast(schoolClass ? t("app.saved") : t("classes.made", { name: saved.name }));
      onClose();
      onMade?.(saved);
    },
  });
  const { status } = form.values;
  return (
    <FormDialog
      title={schoolClass ? t("classes.change", { name: schoolClass.name }) : t("classes.new")}
      isWide
      form={form}
      submitLabel={schoolClass ? t("app.save") : t("classes.make")}
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t("classes.name")} isRequired maxLength={120} {...form.field("name")} />
        <TextField label={t("classes.year")} isRequired maxLength={20} {...form.field("academicYear")} />
      </div>
      <SubjectList known={schoolClass?.subjects ?? []} {...form.field("subjectIds")} />
      <HomeroomFields form={form} schoolClass={schoolClass} />
      {isAdmin(person) ? <OwnerSelect schoolClass={schoolClass} {...form.field("teacherId")} /> : null}
      {schoolClass?.status === "ARCHIVED" ? null : (
        <RadioGroup
          label={t("classes.statusLabel")}
          options={(["ACTIVE", "DRAFT"] as const).map((id) => ({ id, name: t(`classes.long.${id}`) }))}
          {...form.field("status")}
          value={status === "ARCHIVED" ? "ACTIVE" : status}
        />
      )}
      <MoreFields form={form} />
    </FormDialog>
  );
}

function MoreFields({ form }: { form: FormState<ClassValues, Class> }) {
  const { t } = useTranslation();
  return (
    <Disclosure name={t("classes.more")}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t("classes.semester")} maxLength={20} {...form.field("semester")} />
        <TextField label={t("classes.externalId")} maxLength={120} {...form.field("externalId")} />
        <DateTimeField label={t("classes.start")} {...form.field("startDate")} />
        <DateTimeField label={t("classes.end")} {...form.field("endDate")} />
      </div>
      <TimetableFields lessons={form.values.schedule} onChange={(schedule) => form.set({ schedule })} />
    </Disclosure>
  );
}

interface SubjectListProps {
  value: string[];
  onChange: (ids: string[]) => void;
  known: readonly { id: string; name: string }[];
}

function SubjectList({ known, ...field }: SubjectListProps) {
  const { t } = useTranslation();
  const taught = useQuery(activeSubjectsQuery).data ?? [];
  const all = [...taught, ...known.filter((one) => !taught.some((subject) => subject.id === one.id))];
  if (all.length === 0) return <p className="text-soft text-sm">{t("classes.noSubjects")}</p>;
  return <CheckboxList label={t("classes.subjects")} options={all} {...field} />;
}

function HomeroomFields({
  form,
  schoolClass,
}: {
  form: FormState<ClassValues, Class>;
  schoolClass: Class | undefined;
}) {
  const { t } = useTranslation();
  const found = useQuery(homeroomsQuery).data ?? [];
  if (found.length === 0) return null;
  const { homeroomId, followsHomeroom } = form.values;
  const isStarted = followsHomeroom && (schoolClass?.followsHomeroom !== true || schoolClass.homeroomId !== homeroomId);
  return (
    <div>
      <OptionalSelect
        label={t("classes.homeroom")}
        none={t("classes.noHomeroom")}
        options={found.map((one) => ({ id: one.id, name: homeroomLabel(one) }))}
        {...form.field("homeroomId")}
      />
      {homeroomId === null ? null : (
        <>
          <Checkbox {...form.check("followsHomeroom")}>{t("classes.followsHomeroom")}</Checkbox>
          <p className="text-soft text-sm">{t("classes.followsHint")}</p>
          {schoolClass !== undefined && isStarted ? (
            <FollowPreview classId={schoolClass.id} homeroomId={homeroomId} />
          ) : null}
        </>
      )}
      {schoolClass === undefined && homeroomId !== null && !followsHomeroom ? (
        <Checkbox {...form.check("enrollHomeroom")}>{t("classes.enrollHomeroom")}</Checkbox>
      ) : null}
    </div>
  );
}

interface OwnerSelectProps {
  schoolClass: Class | undefined;
  value: string | null;
  onChange: (id: string) => void;
}

/** Owner of the class; administrators may change it. */
function OwnerSelect({ schoolClass, value, onChange }: OwnerSelectProps) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const teachers = useQuery(userSearchQuery(["TEACHER"], "", 200)).data ?? [];
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

function saveClass(schoolClass: Class | undefined, values: ClassValues): Promise<Class> {
  const { enrollHomeroom, teacherId, ...rest } = values;
  const body = {
    ...rest,
    followsHomeroom: rest.followsHomeroom && rest.homeroomId !== null,
    semester: rest.semester || null,
    externalId: rest.externalId || null,
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
}
