import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { isStaff, meQuery } from "../../../auth/session";
import { ErrorMessage } from "../../../components/ErrorMessage";
import { familyKeys, queryKeys } from "../../../api/queryKeys";
import { useIsPageVisible } from "../../work-room/screen";
import { changedAt, type CommentList, commentsQuery, markRead, unreadComments } from "../comments";
import { type CommentRequest, CommentsPanel } from "./CommentsPanel";
import { useController } from "./useController";

/** The comments on the open document: highlights in the text, and the panel if it is open. */
export function Comments({ request, onClose }: { request: CommentRequest | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  const { documentId } = controller.identity;
  const { data: me } = useQuery(meQuery);
  const { data: list, error, refetch } = useQuery(commentsQuery(documentId));
  useEffect(() => {
    if (list === undefined) return;
    const { generation, version, threads } = list;
    controller.setComments({
      generation,
      version,
      passages: threads.flatMap(({ id, anchor, isResolved }) =>
        anchor === null || anchor.generation !== generation
          ? []
          : [{ threadId: id, from: anchor.from, to: anchor.to, isResolved }],
      ),
    });
  }, [controller, list]);
  useReadMark(documentId, request === undefined ? undefined : list, controller.identity.userId);
  if (request === undefined || me == null) return null;
  if (list === undefined)
    return error === null ? null : (
      <aside aria-label={t("editor.comments.title")} className="comments-panel">
        <ErrorMessage problem={error} onRetry={() => void refetch()} />
      </aside>
    );
  return <CommentsPanel list={list} isStaff={isStaff(me)} request={request} onClose={onClose} />;
}

/** Marks the comments that the panel shows as read while the page is visible. */
function useReadMark(documentId: string, shown: CommentList | undefined, userId: string): void {
  const cache = useQueryClient();
  const isPageVisible = useIsPageVisible();
  const newest = unreadComments(shown, userId)
    .map(changedAt)
    .toSorted((one, other) => Date.parse(one) - Date.parse(other))
    .at(-1);
  useEffect(() => {
    if (newest === undefined || !isPageVisible) return;
    void markRead(documentId, newest)
      .then(() =>
        Promise.all(
          [queryKeys.document.comments(documentId), ...familyKeys("room")].map((queryKey) =>
            cache.invalidateQueries({ queryKey }),
          ),
        ),
      )
      .catch(() => undefined);
  }, [documentId, newest, isPageVisible, cache]);
}

/** What the panel shows: opened by the toolbar, a key or a press on a highlight. */
export function useCommentRequest() {
  const [request, setRequest] = useState<CommentRequest>();
  const open = (threadId: string | undefined, isNew: boolean) =>
    setRequest((before) => ({ threadId, isNew, count: (before?.count ?? 0) + 1 }));
  return { request, open, close: () => setRequest(undefined) };
}
