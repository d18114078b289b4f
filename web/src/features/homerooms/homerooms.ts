// Queries about homerooms and their students.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type Homeroom = Schemas["Homeroom"];
export type HomeroomStudent = Schemas["HomeroomStudent"];

export const homeroomsQuery = queryOptions({
  queryKey: queryKeys.homerooms.list(),
  queryFn: () => unwrap(client.GET("/homerooms")),
});

export const homeroomStudentsQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.homerooms.students(id),
    queryFn: () => unwrap(client.GET("/homerooms/{id}/students", { params: { path: { id } } })),
  });

/** Label of a homeroom in lists that contain several years. */
export const homeroomLabel = (room: Homeroom): string => [room.name, room.academicYear].filter(Boolean).join(" · ");
