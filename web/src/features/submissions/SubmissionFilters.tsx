import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { assignmentsQuery } from "../groups/groups";
import { compareNames } from "../../i18n/names";
import { OptionalSelect, Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { classOptionsQuery, courseOptionsQuery, subjectOptionsQuery } from "./submissions";
import { type Filters as Wanted, type WorkState, STATES, effectiveState } from "./filters";

interface Props {
  filters: Wanted;
  onChange: (wanted: Wanted) => void;
}

/** Filters of the overview. Each selection narrows the options of the others. */
export function SubmissionFilters({ filters, onChange }: Props) {
  const { t } = useTranslation();
  const classList = useQuery(classOptionsQuery).data ?? [];
  const courseList = (useQuery(courseOptionsQuery).data ?? []).filter(
    (one) =>
      (!filters.classId || one.classId === filters.classId) &&
      (!filters.subjectId || one.subjectId === filters.subjectId),
  );
  const subjectList = useQuery(subjectOptionsQuery).data ?? [];
  const topics = (useQuery(assignmentsQuery).data ?? []).filter(
    (one) =>
      (!filters.classId || one.classId === filters.classId) &&
      (!filters.courseId || one.courseId === filters.courseId) &&
      (!filters.subjectId || one.course?.subjectId === filters.subjectId),
  );
  const update = (part: { [name in keyof Wanted]?: Wanted[name] | undefined }) =>
    onChange({ ...filters, ...part } as Wanted);
  const titled = topics
    .map((one) => ({ id: one.id, name: one.title }))
    .toSorted((one, other) => compareNames(one.name, other.name));
  return (
    <search
      aria-label={t("submissions.filters")}
      className="grid grid-cols-2 items-start gap-3 lg:grid-cols-3 xl:grid-cols-6"
    >
      <OptionalSelect
        label={t("submissions.class")}
        none={t("app.all")}
        options={classList.map(({ id, name }) => ({ id, name }))}
        value={filters.classId ?? null}
        onChange={(id) => update({ classId: id ?? undefined, courseId: undefined, assignmentId: undefined })}
      />
      <OptionalSelect
        label={t("submissions.subject")}
        none={t("app.all")}
        options={subjectList.map(({ id, name }) => ({ id, name }))}
        value={filters.subjectId ?? null}
        onChange={(id) => update({ subjectId: id ?? undefined, courseId: undefined, assignmentId: undefined })}
      />
      <OptionalSelect
        label={t("submissions.course")}
        none={t("app.all")}
        options={courseList.map((one) => ({
          id: one.id,
          name: filters.classId ? one.name : `${one.class.name} · ${one.name}`,
        }))}
        value={filters.courseId ?? null}
        onChange={(id) => update({ courseId: id ?? undefined, assignmentId: undefined })}
      />
      <OptionalSelect
        label={t("submissions.topic")}
        none={t("app.all")}
        options={titled}
        value={filters.assignmentId ?? null}
        onChange={(id) => update({ assignmentId: id ?? undefined })}
      />
      <Select<WorkState>
        label={t("submissions.status")}
        options={[...STATES.slice(0, 1), "ALL" as const, ...STATES.slice(1)].map((id) => ({
          id,
          name: t(`submissions.state.${id}`),
        }))}
        value={effectiveState(filters)}
        onChange={(status) => update({ status })}
      />
      <NameSearch
        value={filters.search ?? ""}
        onChange={(search) => update({ search: search === "" ? undefined : search })}
      />
    </search>
  );
}

/** Waits until the typing pauses, so that not every keystroke sends a request. */
function NameSearch({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setText(value);
  }
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), 400);
    return () => clearTimeout(timer);
  });
  return <TextField label={t("app.search")} type="search" value={text} onChange={setText} maxLength={100} />;
}
