// The people of the school as the service tells them, and who may do what to whom.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { comparePeople } from "../../i18n/names";
import { queryKeys } from "../../api/queryKeys";
import { type Me, effectiveRole, type EffectiveRole } from "../../auth/session";

export type KnownUser = Schemas["KnownUser"];
export type FullUser = Extract<KnownUser, { view: "FULL" }>;
export type Role = Schemas["MemberRole"];

export const ROLES = ["owner", "admin", "teacher", "student"] as const;
/** The roles that lists can be narrowed to; owners are found among the administrators. */
export const ROLE_FILTERS = ["STUDENT", "TEACHER", "ADMIN"] as const;

export interface UserFilterValues {
  search?: string | undefined;
  role?: (typeof ROLE_FILTERS)[number] | undefined;
  homeroomId?: string | undefined;
  isActive?: "1" | "0" | undefined;
}

/** The people that pass the filters, by name, page by page. */
export const usersQuery = (filters: UserFilterValues) =>
  infiniteQueryOptions({
    queryKey: queryKeys.users.list(filters),
    queryFn: ({ pageParam }) => unwrap(client.GET("/users", { params: { query: { ...filters, limit: 50, ...(pageParam === "" ? {} : { cursor: pageParam }) } } })),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

/** The pending invitations, newest first; those of another organization only for platform administrators. */
export const invitationsQuery = (organizationId?: string) =>
  infiniteQueryOptions({
    queryKey: queryKeys.admin.invitations(organizationId),
    queryFn: ({ pageParam }) =>
      unwrap(client.GET("/admin/invitations", { params: { query: { ...(organizationId === undefined ? {} : { organizationId }), ...(pageParam === "" ? {} : { cursor: pageParam }) } as object } })),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

export const userQuery = (id: string) => queryOptions({ queryKey: queryKeys.users.one(id), queryFn: () => unwrap(client.GET("/users/{id}", { params: { path: { id } } })) });

export const userGroupsQuery = (id: string) =>
  queryOptions({ queryKey: queryKeys.groups.ofPerson(id), queryFn: () => unwrap(client.GET("/users/{id}/groups", { params: { path: { id } } })) });

/** The classes of the school that take students. */
export const classOptionsQuery = queryOptions({ queryKey: queryKeys.classes.active(), queryFn: () => unwrap(client.GET("/classes", { params: { query: { status: "ACTIVE" } } })) });

/** How many people there are, by role. */
export const userCountsQuery = queryOptions({ queryKey: queryKeys.admin.stats(), queryFn: () => unwrap(client.GET("/admin/stats")) });

/** Everybody there is, however many pages that takes. */
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

/** Who may lead a homeroom. */
export const staffQuery = queryOptions({
  queryKey: queryKeys.users.staff(),
  queryFn: async () => (await Promise.all((["TEACHER", "ADMIN"] as const).map((role) => fetchAllUsers({ role, isActive: "1" })))).flat().toSorted((one, other) => comparePeople(one.name, other.name)),
});

/** Whether the account is this school's to change; of others it knows an outline only. */
export const isFullUser = (user: KnownUser): user is FullUser => user.view === "FULL";
export const roleOf = (user: KnownUser): Role => user.member?.role ?? "student";

const RANKS: Record<EffectiveRole, number> = { student: 1, teacher: 2, admin: 3, owner: 4, super: 5 };

/** Whether somebody may change the account of another: of a lower rank; owners also each other. Oneself is changed elsewhere. */
export function canChangeUser(caller: Me, user: KnownUser): boolean {
  const own = effectiveRole(caller);
  return user.id !== caller.id && (RANKS[own] > RANKS[roleOf(user)] || own === "owner");
}

/** The roles somebody may give. */
export const rolesBelow = (own: EffectiveRole): Role[] => ROLES.filter((role) => RANKS[own] > RANKS[role] || own === "owner");
