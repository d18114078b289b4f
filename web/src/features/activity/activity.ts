// The activity log. Teachers read the log of their classes, administrators that of the school.
import { fromDate } from "@internationalized/date";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import type { ActivityFilterValues } from "./filters";

export type ActivityEntry = Schemas["ActivityLog"];
const DAYS = { today: 0, week: 6, month: 29 } as const;

/** Start of a period: midnight of its first day in the reader's time zone. */
export function periodStart(period: NonNullable<ActivityFilterValues["period"]>, zone: string, at: number): string {
  const midnight = fromDate(new Date(at), zone).set({ hour: 0, minute: 0, second: 0, millisecond: 0 });
  return midnight.subtract({ days: DAYS[period] }).toDate().toISOString();
}

/** Query parameters of the request. */
export function activityParams({ period, ...rest }: ActivityFilterValues, zone: string, at: number) {
  return period === undefined ? rest : { ...rest, from: periodStart(period, zone, at) };
}

export const activityQuery = (query: ReturnType<typeof activityParams>) =>
  infiniteQueryOptions({
    queryKey: queryKeys.activity.log(query),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/activity-logs", {
          params: { query: { ...query, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

/** Names of the classes, groups and topics that log entries reference by id, if they still exist. */
export const activityNamesQuery = queryOptions({
  queryKey: queryKeys.activity.names(),
  queryFn: async () => {
    const none = { params: { query: {} } };
    const [classes, groups, topics] = await Promise.all([
      unwrap(client.GET("/classes", none)),
      unwrap(client.GET("/groups", none)),
      unwrap(client.GET("/assignments", none)),
    ]);
    return {
      classes,
      groups,
      of: new Map<string, string>([
        ...classes.map((one): [string, string] => [one.id, one.name]),
        ...groups.map((one): [string, string] => [one.id, one.displayName ?? one.name]),
        ...topics.map((one): [string, string] => [one.id, one.title]),
      ]),
    };
  },
  staleTime: 60_000,
});

/** Groups entries by day in the reader's time zone; keeps the order. */
export function groupByDay<T extends { createdAt: string }>(
  rows: readonly T[],
  day: (at: string) => string,
): { day: string; rows: T[] }[] {
  const days: { day: string; rows: T[] }[] = [];
  for (const row of rows) {
    const name = day(row.createdAt);
    const last = days.at(-1);
    if (last?.day === name) last.rows.push(row);
    else days.push({ day: name, rows: [row] });
  }
  return days;
}

/** The object of a log entry, and where the event happened. */
export function describeEntry(row: ActivityEntry, of: ReadonlyMap<string, string>): { what: string; where: string[] } {
  const document = row.details.document as { title?: unknown } | undefined;
  const title = typeof document?.title === "string" ? document.title : undefined;
  const what = title ?? row.entityName ?? "";
  const ids = [row.groupId, row.assignmentId, row.classId].filter((id) => id !== null && id !== row.entityId);
  const where = ids.map((id) => of.get(id as string)).filter((name) => name !== undefined && name !== what) as string[];
  // A submission is named after its topic and its group, because both may have been deleted since.
  return where.length === 0 && title !== undefined && row.entityName !== null
    ? { what, where: [row.entityName] }
    : { what, where: [...new Set(where)] };
}
