// Queries about the users of the school, and permissions between roles.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { comparePeople } from "../../i18n/names";
import { queryKeys } from "../../api/queryKeys";
import { type Me, effectiveRole, type EffectiveRole } from "../../auth/session";
import { type UserFilterValues } from "./filters";

export type KnownUser = Schemas["VisibleUser"];
export type FullUser = Extract<KnownUser, { view: "FULL" }>;
export type Role = Schemas["MemberRole"];

export const ROLES = ["owner", "admin", "teacher", "student"] as const;

/** Users that match the filters, sorted by name, in pages. */
export const usersQuery = (filters: UserFilterValues) =>
  infiniteQueryOptions({
    queryKey: queryKeys.users.list(filters),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/users", {
          params: { query: { ...filters, limit: 50, ...(pageParam === "" ? {} : { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

/** Pending invitations, newest first; those of other organizations only for platform administrators. */
export const invitationsQuery = (organizationId?: string) =>
  infiniteQueryOptions({
    queryKey: queryKeys.admin.invitations(organizationId),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/admin/invitations", {
          params: {
            query: {
              ...(organizationId === undefined ? {} : { organizationId }),
              ...(pageParam === "" ? {} : { cursor: pageParam }),
            } as object,
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

export const userQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.users.one(id),
    queryFn: () => unwrap(client.GET("/users/{id}", { params: { path: { id } } })),
  });

export const userGroupsQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.groups.ofPerson(id),
    queryFn: () => unwrap(client.GET("/users/{id}/groups", { params: { path: { id } } })),
  });

/** Classes of the school that students can join. */
export const activeClassesQuery = queryOptions({
  queryKey: queryKeys.classes.active(),
  queryFn: () => unwrap(client.GET("/classes", { params: { query: { status: "ACTIVE" } } })),
});

/** Number of users by role. */
export const userCountsQuery = queryOptions({
  queryKey: queryKeys.admin.stats(),
  queryFn: () => unwrap(client.GET("/admin/stats")),
});

/** All users that match the filters, from all pages. */
export async function fetchAllUsers(filters: UserFilterValues): Promise<KnownUser[]> {
  const found: KnownUser[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: { data: KnownUser[]; nextCursor: string | null } = await unwrap(
      client.GET("/users", { params: { query: { ...filters, limit: 200, ...(cursor === "" ? {} : { cursor }) } } }),
    );
    found.push(...page.data);
    cursor = page.nextCursor;
  }
  return found;
}

/** Users who can lead a homeroom. */
export const staffQuery = queryOptions({
  queryKey: queryKeys.users.staff(),
  queryFn: async () =>
    (await Promise.all((["TEACHER", "ADMIN"] as const).map((role) => fetchAllUsers({ role, isActive: "1" }))))
      .flat()
      .toSorted((one, other) => comparePeople(one.name, other.name)),
});

/** Whether the account belongs to this school; of other accounts the API returns an outline only. */
export const isFullUser = (user: KnownUser): user is FullUser => user.view === "FULL";
export const roleOf = (user: KnownUser): Role => user.member?.role ?? "student";

const RANKS: Record<EffectiveRole, number> = { student: 1, teacher: 2, admin: 3, owner: 4, super: 5 };

/** Whether a user can change the account of another: of lower roles; owners also each other. Users change themselves on the account page. */
export function canChangeUser(caller: Me, user: KnownUser): boolean {
  const own = effectiveRole(caller);
  return user.id !== caller.id && (RANKS[own] > RANKS[roleOf(user)] || own === "owner");
}

/** Roles that a user can assign. */
export const rolesBelow = (own: EffectiveRole): Role[] =>
  ROLES.filter((role) => RANKS[own] > RANKS[role] || own === "owner");
