import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { SortDescriptor } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { type DataColumn, DataTable } from "../../components/DataTable";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { Time } from "../../components/base/Time";
import { useGradeText } from "../grading/GradeSummary";
import { LatenessBadge } from "../grading/SubmissionHistory";
import { type Submission } from "../grading/work";
import { fetchFile } from "./fetchFile";
import { type SubmissionRow, SORTS } from "./submissions";
import { numberedName } from "../lesson/groupNames";
import { WorkStateBadge } from "./WorkStateBadge";
import { COLUMNS, type ColumnName, type Filters, effectiveState } from "./filters";

interface Props {
  rows: readonly SubmissionRow[];
  maxPointsOf: (topicId: string) => number | null;
  filters: Filters;
  onSort: (sort: ColumnName, down: boolean) => void;
}

type Cell = (row: SubmissionRow) => ReactNode;

function cellsOf(maxPointsOf: Props["maxPointsOf"]): Record<ColumnName, Cell> {
  return {
    group: (row) => (
      <Link
        to="/topics/$topicId/work/$groupId"
        params={{ topicId: row.assignment.id, groupId: row.group.id }}
        className="inline-flex min-h-6 font-medium whitespace-nowrap"
      >
        {numberedName(row.group)}
      </Link>
    ),
    topic: (row) => (
      <>
        {row.assignment.title}
        {row.course ? <span className="text-soft block text-sm">{row.course.name}</span> : null}
      </>
    ),
    submitted: (row) =>
      row.currentSubmission ? (
        <SubmittedCell submission={row.currentSubmission} />
      ) : (
        <span className="text-soft">–</span>
      ),
    status: (row) => <WorkStateBadge status={row.groupAssignment.status} />,
    grade: (row) => <GradeCell attempt={row.currentSubmission} maxPoints={maxPointsOf(row.assignment.id)} />,
    files: (row) =>
      row.currentSubmission ? (
        <FilesCell attempt={row.currentSubmission} name={numberedName(row.group)} />
      ) : (
        <span className="text-soft">–</span>
      ),
  };
}

/** Table of submissions; each row links to the work. */
export function SubmissionTable({ rows, maxPointsOf, filters, onSort }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const cells = cellsOf(maxPointsOf);
  const columns = COLUMNS.filter((column) => column !== "topic" || filters.assignmentId === undefined).map(
    (column): DataColumn<SubmissionRow & { id: string }> => ({
      id: column,
      name: t(`submissions.column.${column}`),
      cell: cells[column],
      sort: SORTS[column],
      isExtra: column === "files",
    }),
  );
  const sort: SortDescriptor | undefined = filters.sort && {
    column: filters.sort,
    direction: filters.down ? "descending" : "ascending",
  };
  return (
    <DataTable
      label={t("submissions.title")}
      columns={columns}
      rows={rows.map((row) => ({ ...row, id: row.groupAssignment.id }))}
      none={effectiveState(filters) === "UNGRADED" ? t("submissions.nothing") : t("submissions.none")}
      sort={sort}
      isLong={rows.length > 20}
      onOpen={(row) =>
        void navigate({
          to: "/topics/$topicId/work/$groupId",
          params: { topicId: row.assignment.id, groupId: row.group.id },
        })
      }
      onSort={({ column, direction }) => onSort(column as ColumnName, direction === "descending")}
    />
  );
}

function SubmittedCell({ submission }: { submission: Submission }) {
  return (
    <span className="whitespace-nowrap">
      <Time at={submission.submittedAt} />
      <span className="text-soft block text-sm">
        <LatenessBadge attempt={submission} />
      </span>
    </span>
  );
}

function GradeCell({ attempt, maxPoints }: { attempt: Submission | null; maxPoints: number | null }) {
  const { t } = useTranslation();
  const gradeText = useGradeText();
  const grade = attempt?.grade ?? null;
  const text = grade === null ? "" : gradeText(grade, maxPoints);
  if (grade === null || (text === "" && grade.feedback === null)) return <span className="text-soft">–</span>;
  return (
    <span className="whitespace-nowrap">
      {text === "" ? t("submissions.onlyWords") : text}
      {grade.status === "DRAFT" ? <span className="text-soft block text-sm">{t("submissions.draft")}</span> : null}
    </span>
  );
}

function FilesCell({ attempt, name }: { attempt: Submission; name: string }) {
  const { t } = useTranslation();
  const actions = attempt.documents.flatMap((copy) => {
    const title = `${copy.title}.${copy.fileExtension}`;
    const original = { id: copy.id, name: title, onAction: () => fetchFile(copy.downloadUrl, title) };
    return copy.fileExtension === "pdf"
      ? [original]
      : [
          original,
          {
            id: `${copy.id}-pdf`,
            name: t("work.pdfOf", { title }),
            onAction: () => fetchFile(copy.pdfUrl, `${copy.title}.pdf`),
          },
        ];
  });
  return (
    <span className="-my-1 inline-block">
      <OverflowMenu label={t("submissions.filesOf", { name })} actions={actions}>
        {t("submissions.files", { count: attempt.documents.length })}
      </OverflowMenu>
    </span>
  );
}
