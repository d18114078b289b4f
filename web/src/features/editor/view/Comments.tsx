import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { isStaff, meQuery } from "../../../auth/session";
import { ErrorMessage } from "../../../components/ErrorMessage";
import { commentsQuery } from "../comments";
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
  if (request === undefined || me == null) return null;
  if (list === undefined)
    return error === null ? null : (
      <aside aria-label={t("editor.comments.title")} className="comments-panel">
        <ErrorMessage problem={error} onRetry={() => void refetch()} />
      </aside>
    );
  return <CommentsPanel list={list} isStaff={isStaff(me)} request={request} onClose={onClose} />;
}

/** What the panel shows: opened by the toolbar, a key or a press on a highlight. */
export function useCommentRequest() {
  const [request, setRequest] = useState<CommentRequest>();
  const open = (threadId: string | undefined, isNew: boolean) =>
    setRequest((before) => ({ threadId, isNew, count: (before?.count ?? 0) + 1 }));
  return { request, open, close: () => setRequest(undefined) };
}
