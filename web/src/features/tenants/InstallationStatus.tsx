import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { useFormatBytes } from "../../i18n/bytes";
import { useTime } from "../../i18n/time";
import { ServiceHealth } from "../organization/ServiceHealth";
import { SettingsSection } from "../../components/SettingsSection";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { systemQuery } from "./tenants";

type Emails = components["schemas"]["SystemEmails"];

/** Status of the installation: components, database, background jobs. */
export function InstallationStatus() {
  const { t, i18n } = useTranslation();
  const bytes = useFormatBytes();
  const { moment } = useTime();
  const found = useQuery(systemQuery);
  const count = (amount: number) => amount.toLocaleString(i18n.language);
  const known = found.data;
  const emailQueue = ({ hasServer, queued, oldestQueuedAt }: Emails) => {
    if (!hasServer) return t("health.noMailServer");
    return oldestQueuedAt ? t("health.emailsSince", { count: queued, moment: moment(oldestQueuedAt) }) : count(queued);
  };
  const emailError = ({ lastError, lastErrorAt }: Emails) =>
    lastError && lastErrorAt ? `${lastError} (${moment(lastErrorAt)})` : t("health.none");
  const facts = known
    ? ([
        ["uptime", moment(new Date(Date.parse(known.timestamp) - known.uptime * 1000).toISOString())],
        ["databaseKind", known.database.kind === "sqlite" ? "SQLite" : "PostgreSQL"],
        ["databaseSize", bytes(known.database.bytes)],
        ["schema", count(known.database.schemaVersion)],
        ["queued", count(known.jobs.queued)],
        ["running", count(known.jobs.running)],
        ["failed", count(known.jobs.failed)],
        ["removals", count(known.fileRemovals)],
        ["emails", emailQueue(known.emails)],
        ["emailError", emailError(known.emails)],
        ["lastBackup", known.lastBackupAt ? moment(known.lastBackupAt) : t("health.noBackup")],
      ] as const)
    : [];
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <ServiceHealth />
      <SettingsSection title={t("health.installation")}>
        {found.isPending ? <Skeleton count={1} /> : null}
        {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
        <FactList pairs={facts.map(([key, text]) => [t(`health.fact.${key}`), text])} />
        {known ? (
          <details>
            <summary className="cursor-pointer py-2.5">{t("health.tables")}</summary>
            <FactList
              pairs={known.database.tables.map((table) => [
                table.name,
                `${table.isAtLeast ? "> " : ""}${count(table.rows)}`,
              ])}
            />
          </details>
        ) : null}
      </SettingsSection>
    </div>
  );
}

function FactList({ pairs }: { pairs: readonly (readonly [string, string])[] }) {
  return (
    <dl className="grid grid-cols-[minmax(7rem,1fr)_minmax(0,auto)] gap-x-4">
      {pairs.map(([name, text]) => (
        <div key={name} className="border-faint col-span-2 grid grid-cols-subgrid border-b py-1 last:border-b-0">
          <dt className="min-w-0 wrap-anywhere">{name}</dt>
          <dd className="text-end tabular-nums wrap-anywhere">{text}</dd>
        </div>
      ))}
    </dl>
  );
}
