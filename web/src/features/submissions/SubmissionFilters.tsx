import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { assignmentsQuery } from "../groups/groups";
import { compareNames } from "../../i18n/names";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { classOptionsQuery, courseOptionsQuery, subjectOptionsQuery } from "./submissions";
import { type Filters as Wanted, type WorkState, STATES, effectiveState } from "./filters";

const ANY = "any";

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
  const any = { id: ANY, name: t("app.all") };
  const update = (part: { [name in keyof Wanted]?: Wanted[name] | undefined }) =>
    onChange({ ...filters, ...part } as Wanted);
  const picked = (id: string) => (id === ANY ? undefined : id);
  const titled = topics
    .map((one) => ({ id: one.id, name: one.title }))
    .toSorted((one, other) => compareNames(one.name, other.name));
  return (
    <search
      aria-label={t("submissions.filters")}
      className="grid grid-cols-2 items-start gap-3 lg:grid-cols-3 xl:grid-cols-6"
    >
      <Select
        label={t("submissions.class")}
        options={[any, ...classList.map(({ id, name }) => ({ id, name }))]}
        value={filters.classId ?? ANY}
        onChange={(id) => update({ classId: picked(id), courseId: undefined, assignmentId: undefined })}
      />
      <Select
        label={t("submissions.subject")}
        options={[any, ...subjectList.map(({ id, name }) => ({ id, name }))]}
        value={filters.subjectId ?? ANY}
        onChange={(id) => update({ subjectId: picked(id), courseId: undefined, assignmentId: undefined })}
      />
      <Select
        label={t("submissions.course")}
        options={[
          any,
          ...courseList.map((one) => ({
            id: one.id,
            name: filters.classId ? one.name : `${one.class.name} · ${one.name}`,
          })),
        ]}
        value={filters.courseId ?? ANY}
        onChange={(id) => update({ courseId: picked(id), assignmentId: undefined })}
      />
      <Select
        label={t("submissions.topic")}
        options={[any, ...titled]}
        value={filters.assignmentId ?? ANY}
        onChange={(id) => update({ assignmentId: picked(id) })}
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
