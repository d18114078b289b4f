// Comments on a document: the list, and what users do with it.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type CommentList = Schemas["CommentList"];
export type CommentThread = Schemas["CommentThread"];
export type DocumentComment = Schemas["DocumentComment"];

export const commentsQuery = (documentId: string) =>
  queryOptions({
    queryKey: queryKeys.document.comments(documentId),
    queryFn: () => unwrap(client.GET("/workrooms/documents/{id}/comments", { params: { path: { id: documentId } } })),
  });

export const createThread = (
  documentId: string,
  text: string,
  passage: { generation: number; version: number; from: number; to: number } | null,
): Promise<CommentThread> =>
  unwrap(
    client.POST("/workrooms/documents/{id}/comments", {
      params: { path: { id: documentId } },
      body: { text, passage },
    }),
  );

export const replyTo = ({ documentId, id }: CommentThread, text: string): Promise<CommentThread> =>
  unwrap(
    client.POST("/workrooms/documents/{id}/comments/{threadId}/replies", {
      params: { path: { id: documentId, threadId: id } },
      body: { text },
    }),
  );

export const setResolved = ({ documentId, id }: CommentThread, isResolved: boolean): Promise<CommentThread> =>
  unwrap(
    client.PATCH("/workrooms/documents/{id}/comments/{threadId}", {
      params: { path: { id: documentId, threadId: id } },
      body: { isResolved },
    }),
  );

/** Marks the comments as read up to a time. */
export const markRead = (documentId: string, readUntil: string) =>
  unwrap(
    client.POST("/workrooms/documents/{id}/comments/read", {
      params: { path: { id: documentId } },
      body: { readUntil },
    }),
  );

export const changedAt = ({ createdAt, editedAt }: DocumentComment): string => editedAt ?? createdAt;

/** Whether others wrote or edited a comment after a time; null is the beginning. */
export const isNew = (comment: DocumentComment, userId: string, readUntil: string | null): boolean =>
  comment.author.id !== userId &&
  comment.text !== "" &&
  Date.parse(changedAt(comment)) > Date.parse(readUntil ?? "1970");

/** The comments that a user has not read, oldest thread first. */
export const unreadComments = (list: CommentList | undefined, userId: string): DocumentComment[] =>
  list?.threads.flatMap(({ comments }) => comments.filter((comment) => isNew(comment, userId, list.readUntil))) ?? [];

const placeOf = ({ documentId, id }: CommentThread, comment: DocumentComment) => ({
  path: { id: documentId, threadId: id, commentId: comment.id },
});

export const editComment = (thread: CommentThread, comment: DocumentComment, text: string): Promise<DocumentComment> =>
  unwrap(
    client.PATCH("/workrooms/documents/{id}/comments/{threadId}/replies/{commentId}", {
      params: placeOf(thread, comment),
      body: { text },
    }),
  );

export const deleteComment = (thread: CommentThread, comment: DocumentComment) =>
  unwrap(
    client.DELETE("/workrooms/documents/{id}/comments/{threadId}/replies/{commentId}", {
      params: placeOf(thread, comment),
    }),
  );
