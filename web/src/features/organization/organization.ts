// Queries of the administration: statistics, storage, settings, sessions, personal data.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { withVersion } from "../../api/versions";

export const statsQuery = queryOptions({
  queryKey: queryKeys.admin.stats(),
  queryFn: () => unwrap(client.GET("/admin/stats")),
});
export const storageQuery = queryOptions({
  queryKey: queryKeys.admin.storage(),
  queryFn: () => unwrap(client.GET("/admin/storage")),
});
export const settingsQuery = queryOptions({
  queryKey: queryKeys.admin.settings(),
  queryFn: () => withVersion(client.GET("/admin/settings")),
});

/** Readiness and version of the service. An unavailable dependency is a valid response, not an error. */
export const healthQuery = queryOptions({
  queryKey: queryKeys.health.now(),
  queryFn: async () => {
    const [whole, ready] = await Promise.all([unwrap(client.GET("/health")), fetch("/api/health/ready")]);
    return { ...whole, ready: (await ready.json()) as Schemas["Readiness"] };
  },
});

export const sessionsQuery = (userId: string | undefined) =>
  infiniteQueryOptions({
    queryKey: queryKeys.admin.sessions(userId ?? ""),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/admin/sessions", {
          params: {
            query: {
              ...(userId === undefined ? {} : { userId }),
              ...(pageParam === null ? {} : { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

/** State of a personal data export; polled until it is complete. */
export const personalExportQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.admin.exports(id),
    queryFn: () => unwrap(client.GET("/admin/gdpr/jobs/{id}", { params: { path: { id } } })),
    refetchInterval: ({ state }) =>
      state.data === undefined || ["QUEUED", "RUNNING"].includes(state.data.status) ? 1_000 : false,
  });

const ROLE_LEVELS = ["student", "teacher", "admin", "owner"] as const;

/** Whether one role may act on users of another role. */
export const isRoleAbove = (one: Schemas["MemberRole"] | undefined, other: Schemas["MemberRole"]): boolean =>
  one === undefined || ROLE_LEVELS.indexOf(one) > ROLE_LEVELS.indexOf(other);
