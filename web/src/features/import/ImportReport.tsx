import { useState } from "react";
import { useTranslation } from "react-i18next";

import { translateIfKnown } from "../../i18n";
import { Button } from "../../components/Button";
import { DataTable, type DataColumn } from "../../components/DataTable";
import { useIsWide } from "../../hooks/useIsWide";
import { parseLine } from "./columns";
import { downloadTable } from "./csv";
import type { Report as Found, ReportRow, Wizard } from "./wizard";

type RowStatus = ReportRow["status"];
type ReportTableRow = ReportRow & { id: string; name: string; email: string };
const STATUSES: readonly RowStatus[] = ["failed", "created", "updated", "invited", "skipped"];
/** Number of rows per page. */
const PAGE_SIZE = 100;

/** Result or preview per row: counts that filter the list, errors first. */
export function ImportReportView({ wizard, report }: { wizard: Wizard; report: Found }) {
  const { t } = useTranslation();
  const [status, setStatus] = useState<RowStatus>(STATUSES.find((one) => report[one] > 0) ?? "skipped");
  const [many, setMany] = useState(PAGE_SIZE);
  const problemText = useRowProblemText(wizard);
  const isWide = useIsWide();
  const rows: ReportTableRow[] = report.rows
    .filter((row) => row.status === status)
    .map((row, index) => ({ ...row, id: String(index), ...rowPerson(wizard, row) }));
  const columns: DataColumn<ReportTableRow>[] = [
    {
      id: "row",
      name: t("import.row"),
      cell: (row) => <span className="tabular-nums">{[row.file, row.row].filter(Boolean).join(" ")}</span>,
    },
    ...(wizard.rows === null
      ? []
      : [
          {
            id: "who",
            name: t("import.who"),
            cell: (row: ReportTableRow) => (
              <RowPerson
                name={row.name}
                email={row.email}
                problems={isWide ? [] : row.errors.map((problem) => problemText(row, problem))}
              />
            ),
          },
        ]),
    ...(status === "failed" && (isWide || wizard.rows === null)
      ? [
          {
            id: "why",
            name: t("import.why"),
            cell: (row: ReportTableRow) => (
              <RowProblems problems={row.errors.map((problem) => problemText(row, problem))} />
            ),
          },
        ]
      : []),
  ];
  const problems = () => {
    const failed = report.rows.filter((row) => row.status === "failed");
    const lines = failed.flatMap((row) => {
      const { name, email } = rowPerson(wizard, row);
      return row.errors.map((problem) => [
        [row.file, row.row].filter(Boolean).join(" "),
        name,
        email,
        problem.column,
        problemText(row, problem),
      ]);
    });
    downloadTable("problems.csv", [
      [t("import.row"), t("people.name"), t("people.email"), t("import.columnName"), t("import.why")],
      ...lines,
    ]);
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        <fieldset aria-label={t("import.show")} className="flex flex-wrap gap-2">
          {STATUSES.map((one) => (
            <Button
              key={one}
              aria-pressed={status === one}
              isDisabled={report[one] === 0}
              className={status === one ? "border-accent! border-2" : ""}
              onPress={() => {
                setStatus(one);
                setMany(PAGE_SIZE);
              }}
            >
              {t(`import.${report.dryRun ? "will" : "did"}.${one}`, { count: report[one] })}
            </Button>
          ))}
        </fieldset>
        {report.failed > 0 ? <Button onPress={problems}>{t("import.problemsFile")}</Button> : null}
      </div>
      <DataTable
        label={t(`import.${report.dryRun ? "will" : "did"}.${status}`, { count: report[status] })}
        columns={columns}
        rows={rows.slice(0, many)}
        none={t("import.noRows")}
        isLong
      />
      {rows.length > many ? (
        <p>
          <Button onPress={() => setMany(many + PAGE_SIZE)}>{t("app.loadMore")}</Button>
        </p>
      ) : null}
    </div>
  );
}

/** The user of a table row; rows of an archive carry no table cells. */
function rowPerson(wizard: Wizard, row: ReportRow): { name: string; email: string } {
  const cells = wizard.rows?.[row.row - 1];
  if (!cells) return { name: "", email: "" };
  const line = parseLine(cells, wizard);
  return { name: [line.firstName, line.lastName].filter(Boolean).join(" "), email: line.email };
}

/** The user of a row; on narrow screens with its errors. */
function RowPerson({ name, email, problems }: { name: string; email: string; problems: string[] }) {
  return (
    <span className="flex flex-col [overflow-wrap:anywhere]">
      <span>{name || "–"}</span>
      <span className="text-soft text-sm">{email}</span>
      {problems.length > 0 ? <RowProblems problems={problems} /> : null}
    </span>
  );
}

function RowProblems({ problems }: { problems: string[] }) {
  return (
    <ul>
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}

/**
 * Returns a function that renders row errors in the reader's language where translated. An invalid cell is quoted, with what
 * is allowed there.
 */
function useRowProblemText(wizard: Wizard): (row: ReportRow, problem: ReportRow["errors"][number]) => string {
  const { t } = useTranslation();
  return (row, { column, code, message }) => {
    const name = translateIfKnown(`import.fields.${column}`) ?? column;
    const [, what = ""] = message.match(/^names (.+), which|^is in row (\d+)/)?.filter(Boolean) ?? [];
    const isInRow = code === "duplicate" && what !== "";
    const value = readCell(wizard, row, column);
    const text = isInRow
      ? t("import.wrong.inRow", { what })
      : code === "invalid" && value !== ""
        ? t("import.wrong.invalidValue", { value })
        : (translateIfKnown(`import.wrong.${code}`, { what }) ?? message);
    const allowed = code === "invalid" ? translateIfKnown(`import.allowed.${column}`) : undefined;
    const sentence = allowed === undefined ? text : `${text}. ${t("import.allowedIs", { allowed })}`;
    return name === "" ? sentence : `${name}: ${sentence}`;
  };
}

/** The content of a cell as it was sent; empty for rows of an archive. */
function readCell(wizard: Wizard, row: ReportRow, column: string): string {
  const cells = wizard.rows?.[row.row - 1];
  const line: Partial<Record<string, string>> = cells ? parseLine(cells, wizard) : {};
  return line[column] ?? "";
}
