import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock, Download } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { SearchField } from "../../components/SearchField";
import { EmptyState } from "../../components/base/EmptyState";
import { Skeleton } from "../../components/base/Skeleton";
import { StateChip } from "../../components/base/StateChip";
import { Time } from "../../components/base/Time";
import { OptionalSelect } from "../../forms/Select";
import { language } from "../../i18n";
import { coursesQuery } from "../courses/courses";
import { numberedName } from "../lesson/groupNames";
import { fetchFile } from "../submissions/fetchFile";
import {
  cellsByTopic,
  cellState,
  gradeBookQuery,
  matchingStudents,
  tableUrl,
  type GradeBookCell,
  type GradeBookData,
  type GradeBookStudent,
  type GradeBookTopic,
} from "./gradeBook";

interface Props {
  classId: string;
  className: string;
  courseId: string | undefined;
  onCourse: (courseId: string | undefined) => void;
}

/** Students by topics with the grade that counts for each; a cell leads to the work. */
export function GradeBook({ classId, className, courseId, onCourse }: Props) {
  const { t } = useTranslation();
  const [search, setSearch] = useState("");
  const found = useQuery({ ...gradeBookQuery(classId, courseId), placeholderData: (before) => before });
  const courses = (useQuery(coursesQuery).data ?? []).filter((course) => course.classId === classId);
  if (found.isPending) return <Skeleton count={6} />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  const name = courses.find((course) => course.id === courseId)?.name ?? className;
  return (
    <div className="flex flex-col gap-3" aria-busy={found.isPlaceholderData}>
      <div className="flex flex-wrap items-end gap-3">
        <SearchField label={t("gradeBook.search")} value={search} onChange={setSearch} />
        {courses.length === 0 ? null : (
          <div className="w-full sm:w-60">
            <OptionalSelect
              label={t("gradeBook.course")}
              none={t("gradeBook.wholeClass")}
              options={courses.map(({ id, name: title }) => ({ id, name: title }))}
              value={courseId ?? null}
              onChange={(id) => onCourse(id ?? undefined)}
            />
          </div>
        )}
        <Button
          className="sm:ms-auto"
          onPress={() => fetchFile(tableUrl(classId, courseId, language()), `${t("gradeBook.fileName", { name })}.csv`)}
        >
          <Download aria-hidden="true" className="size-5" />
          {t("gradeBook.download")}
        </Button>
      </div>
      <Table book={found.data} search={search} />
    </div>
  );
}

function Table({ book, search }: { book: GradeBookData; search: string }) {
  const { t } = useTranslation();
  const { topics } = book;
  if (topics.length === 0) return <EmptyState>{t("gradeBook.noTopics")}</EmptyState>;
  if (book.students.length === 0) return <EmptyState>{t("gradeBook.noStudents")}</EmptyState>;
  const students = matchingStudents(book.students, search);
  return (
    <>
      <Legend />
      <section
        aria-label={t("gradeBook.title")}
        className="border-faint bg-sheet relative max-h-[75vh] overflow-auto rounded-xl border"
      >
        <table className="w-full border-separate border-spacing-0 tabular-nums">
          <thead>
            <tr>
              <th scope="col" className={`${HEADER} ${FIRST} z-3 text-start`}>
                {t("gradeBook.students", { count: students.length })}
              </th>
              {topics.map((topic) => (
                <th key={topic.id} scope="col" className={`${HEADER} min-w-28 text-end`}>
                  <TopicHeader topic={topic} />
                </th>
              ))}
              <th scope="col" className={`${HEADER} border-s text-end`}>
                {t("gradeBook.mean")}
                <span className="text-soft block text-sm font-normal">{t("gradeBook.published")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {students.map((student) => (
              <StudentRow key={student.userId} student={student} topics={topics} />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" className={`${FOOTER} ${FIRST} z-3 text-start`}>
                {t("gradeBook.meanOfTopic")}
              </th>
              {topics.map((topic) => (
                <td key={topic.id} className={`${FOOTER} text-end font-semibold`}>
                  <Mean mean={topic.mean} />
                </td>
              ))}
              <td className={`${FOOTER} text-soft border-s text-end`}>–</td>
            </tr>
          </tfoot>
        </table>
      </section>
    </>
  );
}

const HEADER = "border-faint bg-sheet sticky top-0 z-2 border-b px-3 py-2 align-bottom font-semibold";
const FOOTER = "border-line bg-sheet sticky bottom-0 z-2 border-t px-3 py-2";
const FIRST = "border-faint sticky start-0 border-e";

function Legend() {
  const { t } = useTranslation();
  return (
    <ul className="text-soft flex flex-wrap gap-x-4 gap-y-1 text-sm">
      <li>
        <strong className="text-ink">2</strong> {t("gradeBook.legend.own")}
      </li>
      <li>
        <em>2</em> {t("gradeBook.legend.draft")}
      </li>
      <li className="inline-flex items-center gap-1">
        <Clock aria-hidden="true" className="text-late size-4" /> {t("gradeBook.legend.late")}
      </li>
    </ul>
  );
}

function TopicHeader({ topic }: { topic: GradeBookTopic }) {
  const { t, i18n } = useTranslation();
  return (
    <>
      <Link to="/topics/$topicId" params={{ topicId: topic.id }} className="inline-block max-w-40 wrap-break-word">
        {topic.title}
      </Link>
      <span className="text-soft block text-sm font-normal whitespace-nowrap">
        <Time at={topic.deadline} />
      </span>
      {topic.maxPoints === null ? null : (
        <span className="text-soft block text-sm font-normal">
          {t("gradeBook.outOf", { max: new Intl.NumberFormat(i18n.language).format(topic.maxPoints) })}
        </span>
      )}
    </>
  );
}

function StudentRow({ student, topics }: { student: GradeBookStudent; topics: readonly GradeBookTopic[] }) {
  return (
    <tr className="hover:bg-page">
      <th scope="row" className={`${FIRST} border-faint bg-sheet z-1 border-b px-3 py-1.5 text-start font-normal`}>
        <strong className="font-semibold">{student.lastName}</strong>
        {student.firstName === "" ? null : `, ${student.firstName}`}
      </th>
      {cellsByTopic(student, topics).map((cell, index) => (
        <td key={topics[index]?.id} className="border-faint border-b px-3 py-1.5 text-end whitespace-nowrap">
          <Cell cell={cell} />
        </td>
      ))}
      <td className="border-faint border-s border-b px-3 py-1.5 text-end font-semibold">
        <Mean mean={student.mean} />
      </td>
    </tr>
  );
}

function Cell({ cell }: { cell: GradeBookCell | undefined }) {
  const { t } = useTranslation();
  if (cell === undefined) return <span className="text-soft text-sm">{t("gradeBook.noGroup")}</span>;
  return (
    <Link
      to="/topics/$topicId/work/$groupId"
      params={{ topicId: cell.assignmentId, groupId: cell.group.id }}
      aria-description={numberedName(cell.group)}
      className="text-ink inline-flex min-h-6 min-w-6 items-center justify-end gap-1 no-underline hover:underline"
    >
      <CellContent cell={cell} />
    </Link>
  );
}

function CellContent({ cell }: { cell: GradeBookCell }) {
  const { t } = useTranslation();
  const late = cell.late ? (
    <span className="text-late">
      <Clock aria-hidden="true" className="size-4" />
      <span className="sr-only">{t("gradeBook.legend.late")}</span>
    </span>
  ) : null;
  switch (cellState(cell)) {
    case "graded":
      return (
        <>
          {late}
          <GradeText cell={cell} />
        </>
      );
    case "missing":
      return <StateChip state="missing">{t("gradeBook.missing")}</StateChip>;
    case "revise":
      return <StateChip state="revise">{t("gradeBook.revise")}</StateChip>;
    case "ungraded":
      return (
        <>
          {late}
          <StateChip state="submitted">{t("gradeBook.ungraded")}</StateChip>
        </>
      );
    default:
      return (
        <span className="text-soft">
          <span aria-hidden="true">·</span>
          <span className="sr-only">{t("gradeBook.open")}</span>
        </span>
      );
  }
}

function GradeText({ cell }: { cell: GradeBookCell }) {
  const { t, i18n } = useTranslation();
  const { grade } = cell;
  if (grade === null) return null;
  const points = grade.points === null ? "" : new Intl.NumberFormat(i18n.language).format(grade.points);
  const text = [grade.value ?? "", points].filter(Boolean).join(" · ");
  const isDraft = grade.status === "DRAFT";
  return (
    <span className={`${grade.individual ? "font-semibold" : ""} ${isDraft ? "italic" : ""}`}>
      {text}
      {grade.individual ? <span className="sr-only"> ({t("gradeBook.legend.own")})</span> : null}
      {isDraft ? <span className="sr-only"> ({t("gradeBook.legend.draft")})</span> : null}
    </span>
  );
}

function Mean({ mean }: { mean: GradeBookStudent["mean"] }) {
  const { t, i18n } = useTranslation();
  const format = (number: number, digits: number) =>
    new Intl.NumberFormat(i18n.language, { maximumFractionDigits: digits }).format(number);
  const parts = [
    mean.value === null ? "" : format(mean.value, 2),
    mean.percent === null ? "" : t("gradeBook.percent", { percent: format(mean.percent, 0) }),
  ].filter(Boolean);
  if (parts.length === 0) return <span className="text-soft font-normal">–</span>;
  return <span className="whitespace-nowrap">{parts.join(" · ")}</span>;
}
