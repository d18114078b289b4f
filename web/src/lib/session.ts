// Who is here: asked of the service, kept by the query cache, and forgotten with everything else on signing out.
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { notFound } from "@tanstack/react-router";

import { client, data, Problem, type Schemas } from "../api/client";
import { forgetDrafts } from "./drafts";

export type Me = Schemas["Me"];

/** What somebody is to the school he works in. */
export type Standing = "student" | "teacher" | "admin" | "owner" | "super";

/** The person who is signed in; null for nobody. */
export const me = queryOptions({
  queryKey: ["me"],
  queryFn: async (): Promise<Me | null> => {
    try {
      return await data(client.GET("/users/me"));
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 401) return null;
      throw problem;
    }
  },
  staleTime: 60_000,
});

/** The schools somebody may choose from. */
export const schools = queryOptions({
  queryKey: ["schools"],
  queryFn: () => data(client.GET("/auth/organization/list")) as Promise<School[]>,
});

export interface School {
  id: string;
  name: string;
  slug: string;
  logo: string | null;
}

export function standing(person: Me): Standing {
  if (person.role === "SUPER_ADMIN") return "super";
  const role = person.member?.role;
  return role === "owner" || role === "admin" || role === "teacher" ? role : "student";
}

export const isStaff = (person: Me): boolean => standing(person) !== "student";
export const isSuper = (person: Me): boolean => standing(person) === "super";
export const isAdmin = (person: Me): boolean => ["admin", "owner", "super"].includes(standing(person));

/** Lets only some into a screen; to everybody else it does not exist. */
export function only(allowed: (person: Me) => boolean) {
  return ({ context }: { context: { person: Me } }) => {
    if (!allowed(context.person)) throw notFound();
  };
}

export async function signIn(cache: QueryClient, email: string, password: string): Promise<void> {
  await client.POST("/auth/sign-in/email", { body: { email, password } as never });
  cache.clear();
}

export async function chooseSchool(cache: QueryClient, organizationId: string): Promise<void> {
  await client.POST("/auth/organization/set-active", { body: { organizationId } as never });
  cache.clear();
}

/** Ends the session; whoever uses this browser next finds nothing of the last. */
export async function signOut(cache: QueryClient): Promise<void> {
  await client.POST("/auth/sign-out", { body: {} as never });
  forgetDrafts();
  cache.clear();
}

/** Where to go after signing in: a path of this page, nothing else. */
export function safeNext(next: unknown): string {
  return typeof next === "string" && /^\/(?![/\\])/.test(next) ? next : "/";
}
