// Adds and removes students and teachers of a class, each with an undo.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { refreshGroups } from "../groups/useMembers";
import { useErrorText } from "../../i18n/useErrorText";
import { toast } from "../../components/base/toast";
import { classStudentsQuery } from "./classes";

interface Person {
  id: string;
  name: string;
}

/** Error handling and refetching shared by all membership changes. */
function useMutationCallbacks() {
  const errorText = useErrorText();
  const cache = useQueryClient();
  const refresh = () => refreshGroups(cache);
  return {
    ends: { onError: (problem: unknown) => void toast(errorText(problem)), onSettled: refresh },
    undo: (back: () => Promise<unknown>) => () =>
      void back()
        .catch((problem: unknown) => toast(errorText(problem)))
        .finally(refresh),
  };
}

/** Enrols single students or a whole homeroom, and removes students. */
export function useEnrolment(classId: string) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { ends, undo } = useMutationCallbacks();
  const path = { id: classId };
  const enroll = (studentIds: string[]) =>
    unwrap(client.POST("/classes/{id}/students", { params: { path }, body: { studentIds } }));
  const expel = (studentId: string) =>
    unwrap(client.DELETE("/classes/{id}/students/{studentId}", { params: { path: { ...path, studentId } } }));
  const roster = () => cache.fetchQuery({ ...classStudentsQuery(classId), staleTime: 0 });
  const add = useMutation({
    mutationFn: (person: Person) => enroll([person.id]),
    onSuccess: (_answer, person) =>
      toast(
        t("classes.added", { name: person.name }),
        undo(() => expel(person.id)),
      ),
    ...ends,
  });
  const addHomeroom = useMutation({
    mutationFn: async (homeroomId: string) => {
      const before = new Set((await roster()).map((student) => student.user.id));
      const answer = await unwrap(client.POST("/classes/{id}/students", { params: { path }, body: { homeroomId } }));
      const added = (await roster()).map((student) => student.user.id).filter((id) => !before.has(id));
      return { ...answer, ids: added };
    },
    onSuccess: (answer) =>
      toast(
        t("classes.addedMany", { count: answer.added, already: answer.alreadyEnrolled }),
        answer.ids.length === 0 ? undefined : undo(() => Promise.all(answer.ids.map(expel))),
      ),
    ...ends,
  });
  const remove = useMutation({
    mutationFn: (person: Person) => expel(person.id),
    onSuccess: (answer, person) =>
      toast(
        t("classes.removed", {
          name: person.name,
          groups: t("courses.groups", { count: answer.removedFromGroups.length }),
        }),
        undo(async () => {
          await enroll([person.id]);
          await Promise.all(
            answer.removedFromGroups.map((id) =>
              client.POST("/groups/{id}/members", { params: { path: { id } }, body: { studentIds: [person.id] } }),
            ),
          );
        }),
      ),
    ...ends,
  });
  return { add, addHomeroom, remove };
}

/** Adds and removes co-teachers. */
export function useTeachers(classId: string) {
  const { t } = useTranslation();
  const { ends, undo } = useMutationCallbacks();
  const path = { id: classId };
  const join = (userId: string) =>
    unwrap(client.POST("/classes/{id}/teachers", { params: { path }, body: { userId } }));
  const leave = (userId: string) =>
    unwrap(client.DELETE("/classes/{id}/teachers/{userId}", { params: { path: { ...path, userId } } }));
  const add = useMutation({
    mutationFn: (person: Person) => join(person.id),
    onSuccess: (_answer, person) =>
      toast(
        t("classes.teacherAdded", { name: person.name }),
        undo(() => leave(person.id)),
      ),
    ...ends,
  });
  const remove = useMutation({
    mutationFn: (person: Person) => leave(person.id),
    onSuccess: (_answer, person) =>
      toast(
        t("classes.teacherRemoved", { name: person.name }),
        undo(() => join(person.id)),
      ),
    ...ends,
  });
  return { add, remove };
}
