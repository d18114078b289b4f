// Submitting for a group, and taking submissions back.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap, Problem } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { toast } from "../../components/base/toast";
import { type Document, lateDeadline, workRoomQuery, type GroupTopic, type WorkRoom } from "./workRoom";

/** Topics that a group can submit to, most likely first. */
export const candidatesQuery = (groupId: string) =>
  queryOptions({
    queryKey: queryKeys.assignments.candidates(groupId),
    queryFn: () => unwrap(client.GET("/assignments/submission-candidates", { params: { query: { groupId } } })),
  });

/**
 * The preselected topic: that of the open document, the one on the screen, the only one, or the one preselected by the
 * service. Nothing when there are no candidates.
 */
export function defaultTopic(
  topics: readonly { assignmentId: string; isPreselected: boolean }[],
  linkedId: string | null | undefined,
  shownId: string,
): string | undefined {
  for (const id of [linkedId, shownId]) if (topics.some((one) => one.assignmentId === id)) return id ?? undefined;
  return (topics.find((one) => one.isPreselected) ?? topics[0])?.assignmentId;
}

/**
 * The preselected drafts of a topic: the open one unless it is linked to another topic, else those of the topic, else the
 * only unlinked draft.
 */
export function defaultDocuments(drafts: readonly Document[], topicId: string, openId: string | undefined): string[] {
  const open = drafts.find((one) => one.id === openId && (one.assignmentId === null || one.assignmentId === topicId));
  if (open) return [open.id];
  const ofTopic = drafts.filter((one) => one.assignmentId === topicId);
  const unlinked = drafts.filter((one) => one.assignmentId === null);
  return (ofTopic.length > 0 ? ofTopic : unlinked.length === 1 ? unlinked : []).map((one) => one.id);
}

/** The selected documents that would be unlinked from another topic. */
export const findRelinked = (
  drafts: readonly Document[],
  chosen: readonly string[],
  topicId: string | undefined,
): Document[] =>
  drafts.filter((one) => chosen.includes(one.id) && one.assignmentId !== null && one.assignmentId !== topicId);

/** Submits documents one at a time: each is a separate attempt that includes all earlier ones. Returns how many may lack their last changes. */
export async function submitDocuments(documents: readonly string[], assignmentId: string): Promise<number> {
  let unsaved = 0;
  for (const id of documents) {
    const submitted = await unwrap(
      client.POST("/workrooms/documents/{id}/submit", { params: { path: { id } }, body: { assignmentId } }),
    );
    if (submitted.unsaved) unsaved += 1;
  }
  return unsaved;
}

export async function takeBackDocuments(documents: readonly string[]): Promise<void> {
  for (const id of documents)
    await client.POST("/workrooms/documents/{id}/unsubmit", { params: { path: { id } }, body: {} });
}

/** Query families that show submissions. */
const AFFECTED_FAMILIES = ["room", "groups", "assignments", "document", "submissions", "feedback", "board"] as const;

/** Refetches everything that shows submissions. */
export function useRefreshAffected(): () => Promise<unknown> {
  const cache = useQueryClient();
  return () => invalidate(cache, ...AFFECTED_FAMILIES);
}

/** Submits; shows a toast with an undo. If another member was faster, shows who. */
export function useSubmit(workRoom: WorkRoom, nameOf: (id: string | null) => string, close: () => void) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const refreshAffected = useRefreshAffected();
  return useMutation({
    mutationFn: ({ documents, assignmentId }: { documents: string[]; assignmentId: string }) =>
      submitDocuments(documents, assignmentId),
    onSuccess: (unsaved, { documents }) => {
      close();
      toast(
        unsaved > 0 ? t("room.handIn.unsaved", { count: unsaved }) : t("room.handIn.done"),
        () =>
          void takeBackDocuments(documents)
            .catch((problem: unknown) => toast(errorText(problem)))
            .finally(refreshAffected),
      );
    },
    onError: async (problem, { documents }) => {
      if (!(problem instanceof Problem) || problem.status !== 409) return;
      const latest = await cache.fetchQuery({ ...workRoomQuery(workRoom.groupId), staleTime: 0 });
      const first = latest.documents.find((one) => documents.includes(one.id) && one.status === "SUBMITTED");
      if (problem.code !== "ALREADY_SUBMITTED" || first === undefined) return;
      close();
      toast(t("room.handIn.already", { name: nameOf(first.submittedById) }));
    },
    onSettled: refreshAffected,
  });
}

/** Takes a submission back; the undo submits again, which works until the deadline. */
export function useTakeBack(topic: GroupTopic | undefined) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const refreshAffected = useRefreshAffected();
  return useMutation({
    mutationFn: (documents: Document[]) => takeBackDocuments(documents.map((one) => one.id)),
    onSuccess: (_, documents) => {
      const assignmentId = topic?.assignmentId ?? documents[0]?.assignmentId;
      const ids = documents.map((one) => one.id);
      const again =
        assignmentId == null
          ? undefined
          : () =>
              void submitDocuments(ids, assignmentId)
                .catch((problem: unknown) => toast(errorText(problem)))
                .finally(refreshAffected);
      toast(t("room.handIn.back.done"), again);
    },
    onError: (problem) => toast(errorText(problem)),
    onSettled: refreshAffected,
  });
}

/** Whether submitting now counts as late. */
export const isLate = (topic: GroupTopic): boolean => serverNow() > lateDeadline(topic);
