// Queries about classes and their members.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type Class = Schemas["Class"];
export type ClassStudent = Schemas["ClassStudent"];

/** All classes of the school. */
export const classesQuery = queryOptions({
  queryKey: queryKeys.classes.list(),
  queryFn: () => unwrap(client.GET("/classes", { params: { query: {} } })),
});

export const classQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.classes.one(id),
    queryFn: () => unwrap(client.GET("/classes/{id}", { params: { path: { id } } })),
  });

/** The students of a class with their groups, for its teachers. */
export const classStudentsQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.classes.roster(id),
    queryFn: async () =>
      (await unwrap(client.GET("/classes/{id}/students", { params: { path: { id }, query: {} } }))).filter(
        (one) => one.view === "FULL",
      ),
  });

/** Users of the school who have one of the roles, searched by name. One query, because those of `useQueries` keep no previous
 * data when their keys change. */
export const userSearchQuery = (roles: readonly ("STUDENT" | "TEACHER" | "ADMIN")[], search: string, limit = 20) =>
  queryOptions({
    queryKey: queryKeys.users.named(roles, search, limit),
    queryFn: async () => {
      const pages = await Promise.all(
        roles.map((role) =>
          unwrap(
            client.GET("/users", {
              params: { query: { role, isActive: "1", limit, ...(search === "" ? {} : { search }) } },
            }),
          ),
        ),
      );
      return [...new Map(pages.flatMap((page) => page.data).map((person) => [person.id, person])).values()];
    },
    placeholderData: (before: Schemas["VisibleUser"][] | undefined) => before,
  });

/** Whether the reader can manage a class; other teachers see it without its lists. */
export const isManaged = (one: Class): boolean => one.coTeachers !== undefined;

/** The school year of a date, "2026/2027"; it begins in August. */
export function schoolYear(at: Date): string {
  const first = at.getMonth() >= 7 ? at.getFullYear() : at.getFullYear() - 1;
  return `${first}/${first + 1}`;
}

/** The following school year of "2026/2027" or "2026/27"; returns other texts unchanged. */
export const yearAfter = (year: string): string =>
  year.replace(
    /(\d{4})(?:([/–-])(\d{2})(?!\d))?/g,
    (_all, first: string, between?: string, last?: string) =>
      `${Number(first) + 1}${last === undefined ? "" : `${between ?? ""}${String((Number(last) + 1) % 100).padStart(2, "0")}`}`,
  );
