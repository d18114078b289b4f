// Class and course of a topic, which the board response does not contain. Small responses that hardly ever change.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

const staleTime = 300_000;

/** Name and teachers of a class. */
export const classNamesQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.classes.place(id),
    queryFn: async () => {
      const found = await unwrap(client.GET("/classes/{id}", { params: { path: { id } } }));
      return {
        name: found.name,
        teachers: new Map([found.teacher, ...(found.coTeachers ?? [])].map((one) => [one.id as string, one.name])),
      };
    },
    staleTime,
  });

/** Course names by id. */
export const courseNamesQuery = queryOptions({
  queryKey: queryKeys.courses.names(),
  queryFn: async () =>
    new Map((await unwrap(client.GET("/courses", {}))).map((course) => [course.id as string, course.name])),
  staleTime,
});
