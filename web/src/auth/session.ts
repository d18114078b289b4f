// The signed-in user: fetched from the service, kept in the query cache, deleted on sign-out.
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { notFound } from "@tanstack/react-router";

import { client, unwrap, Problem, resetEventPosition, type Schemas } from "../api/client";
import { deleteUnsentSteps, flushDocuments } from "../features/editor/collaboration/database";
import { deleteDrafts } from "../forms/drafts";
import { queryKeys } from "../api/queryKeys";
import { setFormalAddress } from "../i18n";
import { currentAddress } from "./oldAddresses";
import { clearPageSchool, markSchoolRestored } from "./pageSchool";
import { waitForAuthReads } from "./sessionEnd";

export type Me = Schemas["Me"];

/** The user name with the school, as on printed slips; null without a user name. */
export const fullUserName = (person: Me): string | null =>
  person.username === null || !person.organization ? person.username : `${person.username}@${person.organization.slug}`;

/** Role of a user in the active school. */
export type EffectiveRole = "student" | "teacher" | "admin" | "owner" | "super";

/** The signed-in user; null when signed out. */
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

/** The schools a user can select: their own; platform administrators can enter all. */
export const schoolsQuery = (person: Me) =>
  queryOptions({
    queryKey: queryKeys.schools.of(person.id),
    queryFn: () =>
      (isSuper(person) ? unwrap(client.GET("/tenants")) : unwrap(client.GET("/auth/organization/list"))) as Promise<
        SchoolSummary[]
      >,
  });

/** The active school of the session, fetched when a page shows a different one. */
export const activeSchoolQuery = queryOptions({
  queryKey: queryKeys.me.activeSchool(),
  queryFn: async () => (await unwrap(client.GET("/users/me"))).organization ?? null,
  staleTime: 0,
});

/** Whether a platform administrator is impersonating the signed-in user. */
export const impersonationQuery = queryOptions({
  queryKey: queryKeys.me.acting(),
  queryFn: async () => {
    const found = (await unwrap(client.GET("/auth/get-session"))) as {
      session: { impersonatedBy: string | null };
    } | null;
    return typeof found?.session.impersonatedBy === "string";
  },
  staleTime: Infinity,
});

export interface SchoolSummary {
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

/** Whether the school addresses this user formally: its staff, if it has chosen so. */
export const isAddressedFormally = (person: Me): boolean =>
  isStaff(person) && person.organization?.metadata?.features?.formalAddress === true;

export const isStaff = (person: Me): boolean => effectiveRole(person) !== "student";
export const isSuper = (person: Me): boolean => effectiveRole(person) === "super";
export const isAdmin = (person: Me): boolean => ["admin", "owner", "super"].includes(effectiveRole(person));

/** Restricts a route to some roles; for other roles it does not exist. */
export function requireRole(allowed: (person: Me) => boolean) {
  return ({ context }: { context: { person: Me } }) => {
    if (!allowed(context.person)) throw notFound();
  };
}

/** Whether a text at sign-in is an email address; in a user name, `name@school`, no dot follows the `@`. */
export const isEmail = (text: string): boolean => /@.*\./.test(text);

/** The second factors of which a waiting sign-in asks for one. */
export type SecondFactorMethods = readonly string[];

/**
 * Opens a session with an email address or a user name; `org` is the short name of the school of plain user names. Returns
 * the second factors if the sign-in waits for one.
 */
export async function openSession(
  typed: string,
  password: string,
  org?: string,
): Promise<SecondFactorMethods | undefined> {
  const school = org === undefined ? {} : { organizationSlug: org };
  const answer = await unwrap(
    isEmail(typed)
      ? client.POST("/auth/sign-in/email", { body: { email: typed, password } })
      : client.POST("/auth/sign-in/username", { body: { username: typed, password, ...school } }),
  );
  return answer !== undefined && "twoFactorRedirect" in answer ? answer.twoFactorMethods : undefined;
}

/** Signs in. Returns the second factors if the sign-in waits for one. */
export async function signIn(
  cache: QueryClient,
  typed: string,
  password: string,
  org?: string,
): Promise<SecondFactorMethods | undefined> {
  await waitForAuthReads();
  const methods = await openSession(typed, password, org);
  if (methods === undefined) completeSignIn(cache);
  return methods;
}

/** Discards the data of the user before. */
export function completeSignIn(cache: QueryClient): void {
  clearPageSchool();
  clearCache(cache);
}

export function clearCache(cache: QueryClient): void {
  resetEventPosition();
  cache.clear();
}

const lastSchoolKey = (person: string) => `school:${person}`;

/** The school that this user selected last in this browser. */
export const getLastSchool = (person: Me): string | null => localStorage.getItem(lastSchoolKey(person.id));

export async function chooseSchool(cache: QueryClient, person: Me, organizationId: string): Promise<void> {
  await client.POST("/auth/organization/set-active", { body: { organizationId } });
  localStorage.setItem(lastSchoolKey(person.id), organizationId);
  clearPageSchool();
  clearCache(cache);
}

/** Reactivates the school of this page after another tab selected a different one. The page keeps its content. */
export async function returnToSchool(cache: QueryClient, person: Me, organizationId: string): Promise<void> {
  await client.POST("/auth/organization/set-active", { body: { organizationId } });
  localStorage.setItem(lastSchoolKey(person.id), organizationId);
  markSchoolRestored();
  await cache.invalidateQueries();
}

/** Changes the password of the signed-in user; all their other sessions end. */
export async function changePassword(currentPassword: string, newPassword: string): Promise<void> {
  await client.POST("/auth/change-password", { body: { currentPassword, newPassword, revokeOtherSessions: true } });
}

/** Replaces the provisional password with which the session was opened. The service allows it once, for 15 minutes. */
export async function replacePassword(newPassword: string): Promise<void> {
  await client.POST("/auth/new-password", { body: { newPassword } });
}

/** Storage keys that survive sign-out: preferences, under ids that reveal nothing. */
const KEPT_STORAGE_KEYS = /^(language$|school:|prefers:)/;

/** Deletes all data of the signed-out user; active queries are cancelled and do not refetch. */
export function clearUserData(cache: QueryClient): void {
  void setFormalAddress(false);
  clearPageSchool();
  clearCache(cache);
  cache.setQueryData(meQuery.queryKey, null);
}

let hasWarned = false;

/** Ends the session, so that the next user of this browser finds no data of the last. The service sends `Clear-Site-Data`. */
export async function signOut(cache: QueryClient): Promise<void> {
  const lasting = Object.entries(localStorage).filter(([key]) => KEPT_STORAGE_KEYS.test(key));
  // Text that cannot be sent would be deleted with everything else of this user, so the first attempt only warns.
  if (!(await flushDocuments()) && !hasWarned) {
    hasWarned = true;
    throw new Problem(0, "UNSENT_CHANGES", "Some changes have not been sent yet");
  }
  hasWarned = false;
  const ended: unknown = await unwrap(client.POST("/auth/sign-out"));
  deleteDrafts();
  await deleteUnsentSteps();
  for (const [key, value] of lasting) localStorage.setItem(key, String(value));
  clearUserData(cache);
  // A sign-on provider opened the session and ends its own, or the next user of this computer would be signed in by it.
  const { url } = Object(ended) as { url?: string };
  if (url !== undefined) location.assign(url);
}

/** Redirect target after sign-in: a path of this origin only. */
export function safeRedirect(next: unknown): string {
  return typeof next === "string" && /^\/(?![/\\])/.test(next) ? currentAddress(next) : "/";
}
