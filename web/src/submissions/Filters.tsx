import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { assignments } from "../lib/groups";
import { compareNames } from "../lib/names";
import { Choice } from "../ui/Choice";
import { Field } from "../ui/Field";
import { classes, courses, type Filters as Wanted, type State, STATES, stateOf, subjects } from "./submissions";

const ANY = "any";

interface Props {
  wanted: Wanted;
  onChange: (wanted: Wanted) => void;
}

/** The filters of the overview. What is chosen narrows what the others offer. */
export function Filters({ wanted, onChange }: Props) {
  const { t } = useTranslation();
  const classList = useQuery(classes).data ?? [];
  const courseList = (useQuery(courses).data ?? []).filter((one) => (!wanted.classId || one.classId === wanted.classId) && (!wanted.subjectId || one.subjectId === wanted.subjectId));
  const subjectList = useQuery(subjects).data ?? [];
  const topics = (useQuery(assignments).data ?? []).filter(
    (one) => (!wanted.classId || one.classId === wanted.classId) && (!wanted.courseId || one.courseId === wanted.courseId) && (!wanted.subjectId || one.course?.subjectId === wanted.subjectId),
  );
  const any = { id: ANY, name: t("app.all") };
  const put = (part: { [name in keyof Wanted]?: Wanted[name] | undefined }) => onChange({ ...wanted, ...part } as Wanted);
  const picked = (id: string) => (id === ANY ? undefined : id);
  const titled = topics.map((one) => ({ id: one.id, name: one.title })).toSorted((one, other) => compareNames(one.name, other.name));
  return (
    <search aria-label={t("submissions.filters")} className="grid grid-cols-2 items-start gap-3 lg:grid-cols-3 xl:grid-cols-6">
      <Choice label={t("submissions.class")} options={[any, ...classList.map(({ id, name }) => ({ id, name }))]} value={wanted.classId ?? ANY} onChange={(id) => put({ classId: picked(id), courseId: undefined, assignmentId: undefined })} />
      <Choice label={t("submissions.subject")} options={[any, ...subjectList.map(({ id, name }) => ({ id, name }))]} value={wanted.subjectId ?? ANY} onChange={(id) => put({ subjectId: picked(id), courseId: undefined, assignmentId: undefined })} />
      <Choice
        label={t("submissions.course")}
        options={[any, ...courseList.map((one) => ({ id: one.id, name: wanted.classId ? one.name : `${one.class.name} · ${one.name}` }))]}
        value={wanted.courseId ?? ANY}
        onChange={(id) => put({ courseId: picked(id), assignmentId: undefined })}
      />
      <Choice label={t("submissions.topic")} options={[any, ...titled]} value={wanted.assignmentId ?? ANY} onChange={(id) => put({ assignmentId: picked(id) })} />
      <Choice<State>
        label={t("submissions.status")}
        options={[...STATES.slice(0, 1), "ALL" as const, ...STATES.slice(1)].map((id) => ({ id, name: t(`submissions.state.${id}`) }))}
        value={stateOf(wanted)}
        onChange={(status) => put({ status })}
      />
      <Search value={wanted.search ?? ""} onChange={(search) => put({ search: search === "" ? undefined : search })} />
    </search>
  );
}

/** Waits until the typing pauses, so that not every letter is a question. */
function Search({ value, onChange }: { value: string; onChange: (words: string) => void }) {
  const { t } = useTranslation();
  const [words, setWords] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setWords(value);
  }
  useEffect(() => {
    if (words.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(words.trim()), 400);
    return () => clearTimeout(timer);
  });
  return <Field label={t("app.search")} type="search" value={words} onChange={setWords} maxLength={100} />;
}
