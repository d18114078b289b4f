import { Link, useNavigate } from "@tanstack/react-router";
import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import type { SortDescriptor } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Chip } from "../ui/Chip";
import { type ColumnOf, Grid } from "../ui/Grid";
import { More } from "../ui/More";
import { When } from "../ui/When";
import { useGradeWords } from "../work/Grade";
import { Lateness } from "../work/History";
import { nameOf, type Submission } from "../work/work";
import { fetchFile } from "./downloads";
import { COLUMNS, type ColumnName, type Filters, type Row, SORTS, stateOf } from "./submissions";

interface Props {
  rows: readonly Row[];
  maxPointsOf: (topicId: string) => number | null;
  wanted: Filters;
  onSort: (sort: ColumnName, down: boolean) => void;
}

const TONES = { NOT_STARTED: "plain", IN_PROGRESS: "plain", SUBMITTED: "good", RETURNED: "warn", GRADED: "good" } as const;

type Cell = (row: Row) => ReactNode;

function cellsOf(t: TFunction, maxPointsOf: Props["maxPointsOf"]): Record<ColumnName, Cell> {
  return {
    group: (row) => (
      <Link to="/t/$topicId/work/$groupId" params={{ topicId: row.assignment.id, groupId: row.group.id }} className="inline-flex min-h-6 font-medium whitespace-nowrap">
        {nameOf(row.group)}
      </Link>
    ),
    topic: (row) => (
      <>
        {row.assignment.title}
        {row.course ? <span className="text-soft block text-sm">{row.course.name}</span> : null}
      </>
    ),
    submitted: (row) => (row.currentSubmission ? <Handed attempt={row.currentSubmission} /> : <span className="text-soft">–</span>),
    status: (row) => <Chip tone={TONES[row.groupAssignment.status]}>{t(`work.state.${row.groupAssignment.status}`)}</Chip>,
    grade: (row) => <Graded attempt={row.currentSubmission} maxPoints={maxPointsOf(row.assignment.id)} />,
    files: (row) => (row.currentSubmission ? <Copies attempt={row.currentSubmission} name={nameOf(row.group)} /> : <span className="text-soft">–</span>),
  };
}

/** The table of what was handed in; each row leads to the work itself. */
export function Overview({ rows, maxPointsOf, wanted, onSort }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const cells = cellsOf(t, maxPointsOf);
  const columns = COLUMNS.filter((column) => column !== "topic" || wanted.assignmentId === undefined).map(
    (column): ColumnOf<Row & { id: string }> => ({ id: column, name: t(`submissions.column.${column}`), cell: cells[column], sort: SORTS[column], isExtra: column === "files" }),
  );
  const sort: SortDescriptor | undefined = wanted.sort && { column: wanted.sort, direction: wanted.down ? "descending" : "ascending" };
  return (
    <Grid
      label={t("submissions.title")}
      columns={columns}
      rows={rows.map((row) => ({ ...row, id: row.groupAssignment.id }))}
      none={stateOf(wanted) === "UNGRADED" ? t("submissions.nothing") : t("submissions.none")}
      sort={sort}
      isLong={rows.length > 20}
      onOpen={(row) => void navigate({ to: "/t/$topicId/work/$groupId", params: { topicId: row.assignment.id, groupId: row.group.id } })}
      onSort={({ column, direction }) => onSort(column as ColumnName, direction === "descending")}
    />
  );
}

function Handed({ attempt }: { attempt: Submission }) {
  return (
    <span className="whitespace-nowrap">
      <When at={attempt.submittedAt} />
      <span className="text-soft block text-sm">
        <Lateness attempt={attempt} />
      </span>
    </span>
  );
}

function Graded({ attempt, maxPoints }: { attempt: Submission | null; maxPoints: number | null }) {
  const { t } = useTranslation();
  const words = useGradeWords();
  const grade = attempt?.grade ?? null;
  const said = grade === null ? "" : words(grade, maxPoints);
  if (grade === null || (said === "" && grade.feedback === null)) return <span className="text-soft">–</span>;
  return (
    <span className="whitespace-nowrap">
      {said === "" ? t("submissions.onlyWords") : said}
      {grade.status === "DRAFT" ? <span className="text-soft block text-sm">{t("submissions.draft")}</span> : null}
    </span>
  );
}

function Copies({ attempt, name }: { attempt: Submission; name: string }) {
  const { t } = useTranslation();
  const deeds = attempt.documents.flatMap((copy) => {
    const title = `${copy.title}.${copy.fileExtension}`;
    const original = { id: copy.id, name: title, onAction: () => fetchFile(copy.downloadUrl, title) };
    return copy.fileExtension === "pdf" ? [original] : [original, { id: `${copy.id}-pdf`, name: t("work.pdfOf", { title }), onAction: () => fetchFile(copy.pdfUrl, `${copy.title}.pdf`) }];
  });
  return (
    <span className="-my-1 inline-block">
      <More label={t("submissions.filesOf", { name })} deeds={deeds}>
        {t("submissions.files", { count: attempt.documents.length })}
      </More>
    </span>
  );
}
