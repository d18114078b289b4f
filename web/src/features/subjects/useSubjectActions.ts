// Actions on subjects; each can be undone.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap, Problem } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { toast } from "../../components/base/toast";
import type { Subject } from "./subjects";

/** Returns the mutations that offer a subject or not, and remove an unused one. */
export function useSubjectActions() {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const refresh = () => invalidate(cache, "subjects");
  const setOffered = useMutation({
    mutationFn: ({ subject, isActive }: { subject: Subject; isActive: boolean; isUndo?: boolean }) =>
      unwrap(client.PATCH("/subjects/{id}", { params: { path: { id: subject.id } }, body: { isActive } })),
    onSuccess: async (_, { subject, isActive, isUndo }) => {
      await refresh();
      toast(
        t(isActive ? "subjects.isOn" : "subjects.isOff", { name: subject.name }),
        isUndo ? undefined : () => setOffered.mutate({ subject, isActive: !isActive, isUndo: true }),
      );
    },
    onError: (problem) => void toast(errorText(problem)),
  });
  const restore = useMutation({
    mutationFn: async ({ name, code, color, description, isActive }: Subject) => {
      const made = await unwrap(client.POST("/subjects", { body: { name, code, color, description } }));
      if (!isActive)
        await unwrap(client.PATCH("/subjects/{id}", { params: { path: { id: made.id } }, body: { isActive } }));
    },
    onSuccess: refresh,
    onError: (problem) => void toast(errorText(problem)),
  });
  const remove = useMutation({
    mutationFn: (subject: Subject) => unwrap(client.DELETE("/subjects/{id}", { params: { path: { id: subject.id } } })),
    onSuccess: async (_, subject) => {
      await refresh();
      // The subject was unused, so creating it again restores it.
      toast(t("subjects.removed", { name: subject.name }), () => restore.mutate(subject));
    },
    onError: (problem, subject) => {
      const isUsed = problem instanceof Problem && problem.code === "SUBJECT_IN_USE";
      if (isUsed && subject.isActive) toast(t("subjects.inUse", { name: subject.name }));
      else toast(isUsed ? t("subjects.inUseOff", { name: subject.name }) : errorText(problem));
    },
  });
  return { offer: setOffered, remove };
}
