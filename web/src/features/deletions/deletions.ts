// Deleted objects that can be restored.
import { infiniteQueryOptions, type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, Problem, unwrap, type Schemas } from "../../api/client";
import { familyKeys, queryKeys } from "../../api/queryKeys";
import { toast } from "../../components/base/toast";
import { useErrorText } from "../../i18n/useErrorText";

export type Deletion = Schemas["Deletion"];

export const deletionsQuery = infiniteQueryOptions({
  queryKey: queryKeys.deletions.list(),
  queryFn: ({ pageParam }) =>
    unwrap(client.GET("/deletions", { params: { query: pageParam === null ? {} : { cursor: pageParam } } })),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.nextCursor,
});

const refresh = (cache: QueryClient) =>
  Promise.all(
    familyKeys("deletions", "classes", "courses", "groups", "assignments", "room", "board", "submissions").map(
      (queryKey) => cache.invalidateQueries({ queryKey }),
    ),
  );

/** Restores a deletion and says what is different from before. */
export function useRestore() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  return useMutation({
    mutationFn: ({ id }: { id: string; name: string }) =>
      unwrap(client.POST("/deletions/{id}/restore", { params: { path: { id } } })),
    onSuccess: (restored, { name }) => {
      const notes = [
        t("deletions.restored", { name: restored.renamedTo ?? name }),
        restored.renumberedGroups > 0 ? t("deletions.renumbered", { count: restored.renumberedGroups }) : "",
        restored.leftOut > 0 ? t("deletions.leftOut", { count: restored.leftOut }) : "",
        restored.missing > 0 ? t("deletions.missing") : "",
      ];
      toast(notes.filter((note) => note !== "").join(" "));
    },
    onError: (problem) => {
      const parent = problem instanceof Problem && problem.code === "PARENT_MISSING" ? problem.details[0] : undefined;
      toast(parent === undefined ? errorText(problem) : t("deletions.parentMissing", { name: parent.message }));
    },
    onSettled: () => refresh(cache),
  });
}

/** The undo of a toast after a deletion, if it can be undone. */
export function useUndo() {
  const { mutate } = useRestore();
  return (deleted: { deletionId?: string }, name: string): (() => void) | undefined => {
    const id = deleted.deletionId;
    return id === undefined ? undefined : () => mutate({ id, name });
  };
}

export function useDiscard() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  return useMutation({
    mutationFn: ({ id }: Deletion) => unwrap(client.DELETE("/deletions/{id}", { params: { path: { id } } })),
    onSuccess: (_done, { name }) => toast(t("deletions.discarded", { name })),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => cache.invalidateQueries({ queryKey: queryKeys.deletions.list() }),
  });
}
