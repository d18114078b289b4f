import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { Problem } from "../../api/client";
import { Button } from "../../components/Button";
import { OptionalSelect } from "../../forms/Select";
import { DataTable } from "../../components/DataTable";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ProgressBar } from "../../components/ProgressBar";
import { RadioGroup } from "../../forms/RadioGroup";
import { Card } from "../../components/Card";
import { FIELDS, findMissingField, parseLine, type Field } from "./columns";
import { sendImport, useProgress, type Change, type Wizard } from "./wizard";

/** Step 2: maps columns to fields and previews the first rows. */
export function ColumnsStep({ wizard, change, onBack }: { wizard: Wizard; change: Change; onBack: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const missingField = wizard.rows === null ? null : findMissingField(wizard.columns);
  return (
    <div className="flex flex-col gap-4">
      <p>
        <strong>{wizard.file?.name}</strong> ·{" "}
        {wizard.rows === null ? t("import.archive") : t("import.rows", { count: wizard.rows.length - 1 })} ·{" "}
        <FileSize bytes={wizard.file?.size ?? 0} />
        {wizard.encoding === "windows-1252" ? <span className="text-soft"> · {t("import.windows")}</span> : null}
      </p>
      {wizard.rows === null ? (
        <p>{t("import.archiveText")}</p>
      ) : (
        <ColumnMapping wizard={wizard} rows={wizard.rows} change={change} />
      )}
      <RadioGroup
        label={t("import.known")}
        options={(["upsert", "create"] as const).map((id) => ({ id, name: t(`import.modes.${id}`) }))}
        value={wizard.mode}
        onChange={(mode) => change({ mode })}
      />
      <FileError problem={wizard.problem} />
      {wizard.sending ? <SendingProgress wizard={wizard} /> : null}
      {missingField === null ? null : <p className="text-warn">{t(`import.lacks.${missingField}`)}</p>}
      <p className="flex flex-wrap gap-2">
        <Button isDisabled={wizard.sending !== null} onPress={onBack}>
          {t("import.otherFile")}
        </Button>
        <Button
          kind="main"
          isDisabled={missingField !== null}
          isPending={wizard.sending !== null}
          onPress={() => void sendImport(cache, true)}
        >
          {t("import.checkGo")}
        </Button>
      </p>
      <p className="text-soft text-sm">{t("import.checkText")}</p>
    </div>
  );
}

/** The common fields; the others are in a disclosure. */
const COMMON_FIELDS: readonly Field[] = ["email", "firstName", "lastName", "name", "role", "homeroom"];

function ColumnMapping({ wizard, rows, change }: { wizard: Wizard; rows: string[][]; change: Change }) {
  const { t } = useTranslation();
  const header = rows[0] ?? [];
  const sample = rows.slice(1, 5).map((row, index) => ({ id: String(index), ...parseLine(row, wizard) }));
  const options = header.map((name, index) => ({
    id: String(index),
    name: name.trim() || t("import.column", { number: index + 1 }),
  }));
  const field = (one: Field) => (
    <OptionalSelect
      key={one}
      label={t(`import.fields.${one}`)}
      none={t("import.notThere")}
      options={options}
      value={wizard.columns[one]?.toString() ?? null}
      onChange={(id) => {
        const { [one]: _, ...others } = wizard.columns;
        change({ columns: id === null ? others : { ...others, [one]: Number(id) } });
      }}
    />
  );
  const unused = header.filter((name, index) => name.trim() !== "" && !Object.values(wizard.columns).includes(index));
  const rest = FIELDS.filter((one) => !COMMON_FIELDS.includes(one));
  return (
    <>
      <Card className="flex flex-col gap-3">
        <h2>{t("import.columnsTitle")}</h2>
        <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">{COMMON_FIELDS.map(field)}</div>
        {wizard.columns.role === undefined ? (
          <RadioGroup
            label={t("import.everybody")}
            options={(["student", "teacher"] as const).map((id) => ({ id, name: t(`import.everybodyIs.${id}`) }))}
            value={wizard.defaultRole}
            onChange={(everybody) => change({ defaultRole: everybody })}
          />
        ) : null}
        <details open={rest.some((one) => wizard.columns[one] !== undefined)}>
          <summary className="min-h-11 cursor-pointer py-2 font-medium">{t("import.moreColumns")}</summary>
          <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">{rest.map(field)}</div>
        </details>
        {unused.length > 0 ? (
          <p className="text-soft text-sm">{t("import.unused", { names: unused.join(", ") })}</p>
        ) : null}
      </Card>
      <h2>{t("import.sample")}</h2>
      <DataTable
        label={t("import.sample")}
        rows={sample}
        none={null}
        columns={[
          {
            id: "name",
            name: t("people.name"),
            cell: (line) => [line.firstName, line.lastName].filter(Boolean).join(" ") || "–",
          },
          { id: "email", name: t("import.fields.email"), cell: (line) => line.email || line.username || "–" },
          {
            id: "role",
            name: t("import.fields.role"),
            cell: (line) =>
              line.role === "student" || line.role === "teacher" ? (
                t(`role.${line.role}`)
              ) : (
                <span className="text-warn">{line.role || "–"}</span>
              ),
          },
          { id: "homeroom", name: t("import.fields.homeroom"), cell: (line) => line.homeroom || "–" },
          { id: "classes", name: t("import.fields.classes"), isExtra: true, cell: (line) => line.classes || "–" },
        ]}
      />
    </>
  );
}

/** Why the service rejected the file. */
export function FileError({ problem }: { problem: unknown }) {
  const { t } = useTranslation();
  if (problem === null) return null;
  if (!(problem instanceof Problem) || problem.code !== "RATE_LIMITED") return <ErrorMessage problem={problem} />;
  return (
    <p role="alert" className="text-warn">
      {t("import.tooOften")}
    </p>
  );
}

/** Progress of the upload or the import. */
export function SendingProgress({ wizard }: { wizard: Wizard }) {
  const { t } = useTranslation();
  const progress = useProgress();
  if (!wizard.sending) return null;
  const { isDry, share } = wizard.sending;
  if (share < 1) return <ProgressBar label={t("import.uploading")} share={share} />;
  const label = t(isDry ? "import.checking" : "import.importing");
  if (!progress || progress.rows === 0) return <ProgressBar label={label} />;
  return (
    <ProgressBar
      label={`${label} ${t("import.of", { done: progress.done, count: progress.rows })}`}
      share={progress.done / progress.rows}
    />
  );
}

/** Size of a file, in a suitable unit. */
export function FileSize({ bytes }: { bytes: number }) {
  const { i18n } = useTranslation();
  const [unit, per] = bytes < 1_000_000 ? (["kilobyte", 1_000] as const) : (["megabyte", 1_000_000] as const);
  return (
    <>{new Intl.NumberFormat(i18n.language, { style: "unit", unit, maximumFractionDigits: 1 }).format(bytes / per)}</>
  );
}
