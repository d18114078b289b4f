// The school as those who run it see it: numbers, storage, settings, who is signed in, what is kept of a person.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { withVersion } from "../../api/versions";

export const statsQuery = queryOptions({ queryKey: queryKeys.admin.stats(), queryFn: () => unwrap(client.GET("/admin/stats")) });
export const storageQuery = queryOptions({ queryKey: queryKeys.admin.storage(), queryFn: () => unwrap(client.GET("/admin/storage")) });
export const settingsQuery = queryOptions({ queryKey: queryKeys.admin.settings(), queryFn: () => withVersion(client.GET("/admin/settings")) });

/** Whether the service can work, and its version. What it needs may be away: that is an answer, too. */
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
      unwrap(client.GET("/admin/sessions", { params: { query: { ...(userId === undefined ? {} : { userId }), ...(pageParam === null ? {} : { cursor: pageParam }) } } })),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

/** How the export of a person's data stands; asked again until it is made. */
export const personalExportQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.admin.exports(id),
    queryFn: () => unwrap(client.GET("/admin/gdpr/jobs/{id}", { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data === undefined || ["QUEUED", "RUNNING"].includes(state.data.status) ? 1_000 : false),
  });

const ROLE_LEVELS = ["student", "teacher", "admin", "owner"] as const;

/** Whether somebody of one role may act on somebody of the other. */
export const isRoleAbove = (one: Schemas["MemberRole"] | undefined, other: Schemas["MemberRole"]): boolean => one === undefined || ROLE_LEVELS.indexOf(one) > ROLE_LEVELS.indexOf(other);
