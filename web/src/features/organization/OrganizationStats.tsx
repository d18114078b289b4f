import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { statsQuery } from "./organization";

/** Statistics of the school. */
export function OrganizationStats() {
  const { t, i18n } = useTranslation();
  const found = useQuery(statsQuery);
  if (found.isPending) return <Skeleton count={3} />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  const { users, ...rest } = found.data;
  const numbers = [
    ["students", users.student],
    ["teachers", users.teacher],
    ["admins", users.admin + users.owner],
    ["classes", rest.classes],
    ["courses", rest.courses],
    ["groups", rest.groups],
    ["topics", rest.assignments],
    ["openHelp", rest.openHelp],
    ["sessions", rest.activeSessions],
  ] as const;
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-3">
      {numbers.map(([name, count]) => (
        <div
          key={name}
          className="bg-sheet border-faint flex flex-col-reverse justify-end rounded-xl border p-3 shadow-sm"
        >
          <dt className="text-soft text-sm">{t(`overview.number.${name}`)}</dt>
          <dd className="text-2xl font-semibold tabular-nums">{count.toLocaleString(i18n.language)}</dd>
        </div>
      ))}
    </dl>
  );
}
