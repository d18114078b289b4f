// Who is here: asked of the service, kept by the query cache, and forgotten with everything else on signing out.
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { notFound } from "@tanstack/react-router";

import { client, unwrap, Problem, type Schemas } from "../api/client";
import { deleteDrafts } from "../forms/drafts";
import { queryKeys } from "../api/queryKeys";
import { clearPageSchool, markSchoolRestored } from "./pageSchool";

export type Me = Schemas["Me"];

/** What somebody is to the school he works in. */
export type EffectiveRole = "student" | "teacher" | "admin" | "owner" | "super";

/** The person who is signed in; null for nobody. */
export const meQuery = queryOptions({
  queryKey: queryKeys.me.self(),
  queryFn: async (): Promise<Me | null> => {
    try {
      return await unwrap(client.GET("/users/me"));
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 401) return null;
      throw problem;
    }
  },
  staleTime: 60_000,
});

/** The schools somebody may choose from: the own ones; whoever runs the installation may enter each. */
export const schoolsQuery = (person: Me) =>
  queryOptions({
    queryKey: queryKeys.schools.of(person.id),
    queryFn: () => (isSuper(person) ? unwrap(client.GET("/tenants")) : unwrap(client.GET("/auth/organization/list"))) as Promise<School[]>,
  });

/** The school in which the session works now, asked when a page shows another one. */
export const activeSchoolQuery = queryOptions({
  queryKey: queryKeys.me.activeSchool(),
  queryFn: async () => (await unwrap(client.GET("/users/me"))).organization ?? null,
  staleTime: 0,
});

/** Whether somebody else acts in the name of the person who is signed in. */
export const impersonationQuery = queryOptions({
  queryKey: queryKeys.me.acting(),
  queryFn: async () => {
    const found = (await unwrap(client.GET("/auth/get-session"))) as { session: { impersonatedBy: string | null } } | null;
    return typeof found?.session.impersonatedBy === "string";
  },
  staleTime: Infinity,
});

export interface School {
  id: string;
  name: string;
  slug: string;
  logo: string | null;
}

export function effectiveRole(person: Me): EffectiveRole {
  if (person.role === "SUPER_ADMIN") return "super";
  const role = person.member?.role;
  return role === "owner" || role === "admin" || role === "teacher" ? role : "student";
}

export const isStaff = (person: Me): boolean => effectiveRole(person) !== "student";
export const isSuper = (person: Me): boolean => effectiveRole(person) === "super";
export const isAdmin = (person: Me): boolean => ["admin", "owner", "super"].includes(effectiveRole(person));

/** Lets only some into a screen; to everybody else it does not exist. */
export function requireRole(allowed: (person: Me) => boolean) {
  return ({ context }: { context: { person: Me } }) => {
    if (!allowed(context.person)) throw notFound();
  };
}

export async function signIn(cache: QueryClient, email: string, password: string): Promise<void> {
  await client.POST("/auth/sign-in/email", { body: { email, password } as never });
  clearPageSchool();
  cache.clear();
}

const lastSchoolKey = (person: string) => `school:${person}`;

/** The school this person chose last in this browser. */
export const getLastSchool = (person: Me): string | null => localStorage.getItem(lastSchoolKey(person.id));

export async function chooseSchool(cache: QueryClient, person: Me, organizationId: string): Promise<void> {
  await client.POST("/auth/organization/set-active", { body: { organizationId } as never });
  localStorage.setItem(lastSchoolKey(person.id), organizationId);
  clearPageSchool();
  cache.clear();
}

/** Makes the school of this page the active one again, after another tab chose another one. What the page shows stays. */
export async function returnToSchool(cache: QueryClient, person: Me, organizationId: string): Promise<void> {
  await client.POST("/auth/organization/set-active", { body: { organizationId } as never });
  localStorage.setItem(lastSchoolKey(person.id), organizationId);
  markSchoolRestored();
  await cache.invalidateQueries();
}

/** Sets another password for the person who is signed in; every other session of his ends. */
export async function changePassword(currentPassword: string, newPassword: string): Promise<void> {
  await client.POST("/auth/change-password", { body: { currentPassword, newPassword, revokeOtherSessions: true } as never });
}

/** What a browser keeps when somebody goes: choices, under ids that tell nobody anything. */
const KEPT_STORAGE_KEYS = /^(language$|school:|prefers:)/;

/** Nobody is here any more: everything is forgotten, and what is still on the screen asks for nothing. */
export function clearUserData(cache: QueryClient): void {
  clearPageSchool();
  cache.clear();
  cache.setQueryData(meQuery.queryKey, null);
}

/** Ends the session; whoever uses this browser next finds nothing of the last. The service has the browser drop everything. */
export async function signOut(cache: QueryClient): Promise<void> {
  const lasting = Object.entries(localStorage).filter(([key]) => KEPT_STORAGE_KEYS.test(key));
  await client.POST("/auth/sign-out", { body: {} as never });
  deleteDrafts();
  for (const [key, value] of lasting) localStorage.setItem(key, String(value));
  clearUserData(cache);
}

/** Where to go after signing in: a path of this page, nothing else. */
export function safeRedirect(next: unknown): string {
  return typeof next === "string" && /^\/(?![/\\])/.test(next) ? next : "/";
}
