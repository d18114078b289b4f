// Messages between users of a school, and announcements to a class.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { comparePeople } from "../../i18n/names";
import { queryKeys } from "../../api/queryKeys";
import { type Box } from "./boxes";

export type Message = Schemas["Message"];

/** The messages of a folder, newest first; announcements require a class. */
export const messagesQuery = (box: Box, classId: string | undefined) =>
  infiniteQueryOptions({
    queryKey: queryKeys.messages.box(box, classId ?? ""),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/messages", {
          params: {
            query: {
              box,
              limit: 30,
              ...(classId === undefined ? {} : { classId }),
              ...(pageParam === "" ? {} : { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

export const messageQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.messages.one(id),
    queryFn: () => unwrap(client.GET("/messages/{id}", { params: { path: { id } } })),
  });

export const unreadCountQuery = queryOptions({
  queryKey: queryKeys.messages.unread(),
  queryFn: async () => (await unwrap(client.GET("/messages/unread-count"))).unreadCount,
});

export const ownClassesQuery = queryOptions({
  queryKey: queryKeys.classes.open(),
  queryFn: () => unwrap(client.GET("/classes", { params: { query: { mine: "1" } } })),
});

export interface Addressee {
  id: string;
  name: string;
  note?: string;
}

/** Possible recipients of a student: the teachers of their classes. */
export function listTeachers(
  found: readonly {
    name: string;
    teacher: { id: string; name: string };
    coTeachers?: readonly { id: string; name: string }[] | null;
  }[],
): Addressee[] {
  const all = new Map<string, Addressee>();
  for (const one of found) {
    for (const teacher of [one.teacher, ...(one.coTeachers ?? [])]) {
      const before = all.get(teacher.id)?.note;
      all.set(teacher.id, {
        id: teacher.id,
        name: teacher.name,
        note: before === undefined ? one.name : `${before}, ${one.name}`,
      });
    }
  }
  return [...all.values()].toSorted((one, other) => comparePeople(one.name, other.name));
}

/** Adds "Re:" once, however often the subject is replied to. */
export const replySubject = (subject: string | null): string =>
  subject === null ? "" : /^(re|aw):/i.test(subject) ? subject : `Re: ${subject}`;
