import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { translateIfKnown } from "../../i18n";
import { useFormatBytes } from "../../i18n/bytes";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { storageQuery } from "./organization";
import { SettingsSection } from "../../components/SettingsSection";
import { UsageBar } from "./UsageBar";

/** Storage usage and quota of the school, by type and by largest consumers. */
export function StorageUsage() {
  const { t } = useTranslation();
  const bytes = useFormatBytes();
  const found = useQuery(storageQuery);
  const kinds = Object.entries(found.data?.kinds ?? {}).filter(([, amount]) => amount > 0);
  return (
    <SettingsSection title={t("overview.storage")}>
      {found.isPending ? <Skeleton count={1} /> : null}
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.data ? (
        <>
          <div className="flex flex-col gap-1">
            <p>{t("overview.used", { used: bytes(found.data.usedBytes), quota: bytes(found.data.quotaBytes) })}</p>
            <UsageBar label={t("overview.storage")} used={found.data.usedBytes} of={found.data.quotaBytes} />
            <p className="text-soft text-sm">{t("overview.perGroup", { quota: bytes(found.data.groupQuotaBytes) })}</p>
          </div>
          {kinds.length === 0 ? null : (
            <AmountList
              title={t("overview.kinds")}
              lines={kinds.map(([kind, amount]) => [
                kind,
                translateIfKnown(`overview.kind.${kind}`) ?? kind,
                bytes(amount),
              ])}
            />
          )}
          {found.data.classes.length === 0 ? null : (
            <AmountList
              title={t("overview.classes")}
              lines={found.data.classes.slice(0, 8).map((one) => [one.id, one.name, bytes(one.bytes)])}
            />
          )}
          <p className="text-soft text-sm">
            {t("overview.counted")} <Time at={found.data.countedAt} />
          </p>
        </>
      ) : null}
    </SettingsSection>
  );
}

function AmountList({ title, lines }: { title: string; lines: readonly (readonly [string, string, string])[] }) {
  return (
    <div>
      <h3 className="font-medium">{title}</h3>
      <dl className="grid grid-cols-[1fr_auto] gap-x-4">
        {lines.map(([key, name, amount]) => (
          <div key={key} className="border-faint col-span-2 grid grid-cols-subgrid border-b py-1 last:border-b-0">
            <dt className="min-w-0 wrap-anywhere">{name}</dt>
            <dd className="text-end tabular-nums">{amount}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
