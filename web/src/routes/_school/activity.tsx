import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import {
  groupByDay,
  activityQuery,
  activityNamesQuery,
  activityParams,
  type ActivityEntry,
} from "../../features/activity/activity";
import { ActivityFilters } from "../../features/activity/ActivityFilters";
import { ActivityRow } from "../../features/activity/ActivityRow";
import { parseActivityFilters, type ActivityFilterValues } from "../../features/activity/filters";
import { client, unwrap } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { useErrorText } from "../../i18n/useErrorText";
import { saveBlob } from "../../api/saveBlob";
import { isAdmin, isStaff, requireRole } from "../../auth/session";
import { useTime } from "../../i18n/time";
import { Button } from "../../components/Button";
import { LoadMore } from "../../components/LoadMore";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeading } from "../../components/PageHeading";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Card } from "../../components/Card";

export const Route = createFileRoute("/_school/activity")({
  validateSearch: parseActivityFilters,
  beforeLoad: requireRole(isStaff),
  component: Activity,
});

/** The activity log. */
function Activity() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const filters = Route.useSearch();
  const navigate = Route.useNavigate();
  const { zone } = useTime();
  // Periods begin at midnight; the time of the visit determines the day.
  const [at] = useState(serverNow);
  const query = activityParams(filters, zone, at);
  const found = useInfiniteQuery(activityQuery(query));
  const rows = found.data?.pages.flatMap((page) => page.data) ?? [];
  const setFilters = (next: ActivityFilterValues) => void navigate({ search: next, replace: true });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <PageHeading title={t("nav.activity")}>{t("nav.activity")}</PageHeading>
        {isAdmin(person) ? <ExportButton query={query} /> : null}
      </div>
      <ActivityFilters filters={filters} onChange={setFilters} />
      {found.isPending ? <ListSkeleton /> : null}
      {found.isError && !found.data ? (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data && rows.length === 0 ? (
        <EmptyState
          action={
            Object.keys(filters).length === 0 ? null : (
              <Button onPress={() => setFilters({})}>{t("activity.everything")}</Button>
            )
          }
        >
          {t("activity.none")}
        </EmptyState>
      ) : null}
      <ActivityDays rows={rows} />
      <LoadMore pages={found} className="self-center" />
    </div>
  );
}

function ActivityDays({ rows }: { rows: readonly ActivityEntry[] }) {
  const { t } = useTranslation();
  const { day, language, zone } = useTime();
  const of = useQuery(activityNamesQuery).data?.of ?? new Map<string, string>();
  const long = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
    timeZone: zone,
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
  });
  const near = new Map([
    [day(new Date(serverNow() - 86_400_000).toISOString()), t("activity.yesterday")],
    [day(new Date(serverNow()).toISOString()), t("activity.today")],
  ]);
  return groupByDay(rows, day).map((part) => {
    const title = near.get(part.day) ?? long.format(new Date(part.rows[0]?.createdAt ?? 0));
    return (
      <section key={part.day} aria-label={title} className="flex flex-col gap-2">
        <h2>{title}</h2>
        <Card className="px-1! py-1!">
          <ul className="divide-faint divide-y">
            {part.rows.map((row) => (
              <ActivityRow key={row.id} row={row} of={of} />
            ))}
          </ul>
        </Card>
      </section>
    );
  });
}

function ExportButton({ query }: { query: ReturnType<typeof activityParams> }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const fetching = useMutation({
    mutationFn: async () =>
      (await unwrap(
        client.GET("/activity-logs/export.csv", { params: { query }, parseAs: "blob" }),
      )) as unknown as Blob,
    onSuccess: (table) => saveBlob(table, "activity.csv"),
    onError: (problem) => toast(errorText(problem)),
  });
  return (
    <Button isPending={fetching.isPending} onPress={() => fetching.mutate()}>
      <Download aria-hidden="true" className="size-4" />
      {t("activity.export")}
    </Button>
  );
}
