// Adds, removes and moves members of groups, each with an undo.
import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import type { ListedGroup } from "./groups";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { toast } from "../../components/base/toast";
import { numberedName } from "../lesson/groupNames";

/** Invalidates all queries that contain groups or their members. */
export const refreshGroups = (cache: QueryClient) =>
  invalidate(cache, "groups", "courses", "classes", "assignments", "room", "board");

interface Person {
  id: string;
  name: string;
}

const addMembers = (group: ListedGroup, studentIds: string[]) =>
  unwrap(client.POST("/groups/{id}/members", { params: { path: { id: group.id } }, body: { studentIds } }));
const removeMember = (group: ListedGroup, userId: string) =>
  unwrap(client.DELETE("/groups/{id}/members/{userId}", { params: { path: { id: group.id, userId } } }));
const moveMember = (from: ListedGroup, to: ListedGroup, userId: string) =>
  unwrap(
    client.POST("/groups/{id}/members/{userId}/move", {
      params: { path: { id: from.id, userId } },
      body: { toGroupId: to.id },
    }),
  );

/** Adds, removes and moves students; each change shows a toast with an undo. */
export function useMembers() {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const refreshed = {
    onError: (problem: unknown) => void toast(errorText(problem)),
    onSettled: () => refreshGroups(cache),
  };
  const undo = (back: () => Promise<unknown>) => () =>
    void back()
      .catch((problem: unknown) => toast(errorText(problem)))
      .finally(() => refreshGroups(cache));
  const add = useMutation({
    mutationFn: ({ group, people }: { group: ListedGroup; people: Person[] }) =>
      addMembers(
        group,
        people.map((person) => person.id),
      ),
    onSuccess: (answer, { group, people }) => {
      const names = people.map((person) => person.name).join(", ");
      const elsewhere = people
        .filter((person) => answer.alreadyInTopic.includes(person.id))
        .map((person) => person.name);
      const message = [
        t("courses.added", { names, group: numberedName(group) }),
        elsewhere.length > 0 ? t("courses.alsoElsewhere", { names: elsewhere.join(", ") }) : "",
      ];
      toast(
        message.filter(Boolean).join(" "),
        undo(() => Promise.all(people.map((person) => removeMember(group, person.id)))),
      );
    },
    ...refreshed,
  });
  const remove = useMutation({
    mutationFn: ({ group, person }: { group: ListedGroup; person: Person }) => removeMember(group, person.id),
    onSuccess: (_answer, { group, person }) =>
      toast(
        t("courses.removed", { name: person.name, group: numberedName(group) }),
        undo(() => addMembers(group, [person.id])),
      ),
    ...refreshed,
  });
  const move = useMutation({
    mutationFn: ({ from, to, person }: { from: ListedGroup; to: ListedGroup; person: Person }) =>
      moveMember(from, to, person.id),
    onSuccess: (answer, { from, to, person }) => {
      const kept = answer.keptSubmissions.length;
      const message = [
        t("courses.moved", { name: person.name, group: numberedName(to) }),
        kept > 0 ? t("courses.kept", { count: kept, group: numberedName(from) }) : "",
      ];
      toast(
        message.filter(Boolean).join(" "),
        undo(() => moveMember(to, from, person.id)),
      );
    },
    ...refreshed,
  });
  return { add, remove, move };
}

/**
 * Students of a class with their group in this course, sorted: without a group first, then by group. Within a group the
 * server's order stays.
 */
export function withGroups<S extends { user: Person }>(
  students: readonly S[],
  groups: readonly ListedGroup[],
): { student: S; group: ListedGroup | undefined }[] {
  const groupOf = (student: S) =>
    groups.find((group) => group.members.some((member) => member.userId === student.user.id));
  return students
    .map((student) => ({ student, group: groupOf(student) }))
    .toSorted((one, other) => (one.group?.groupNumber ?? 0) - (other.group?.groupNumber ?? 0));
}
