import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CheckCheck, MessageSquarePlus, RotateCcw, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Problem } from "../../../api/client";
import { queryKeys } from "../../../api/queryKeys";
import { Avatar } from "../../../components/base/Avatar";
import { OverflowMenu } from "../../../components/base/OverflowMenu";
import { Time } from "../../../components/base/Time";
import { toast } from "../../../components/base/toast";
import { Button } from "../../../components/Button";
import { Segmented } from "../../../components/Segmented";
import { useErrorText } from "../../../i18n/useErrorText";
import { commentsOf } from "../collaboration/commentPassages";
import {
  type CommentList,
  type CommentThread,
  createThread,
  deleteComment,
  type DocumentComment,
  editComment,
  isNew,
  replyTo,
  setResolved,
} from "../comments";
import { awaits, mentionedIn, type MentionedPerson, partsOf, readable, stored } from "../mentions";
import { MentionArea } from "./MentionArea";
import { useController, useEditorValue } from "./useController";

/** Maximum length of a comment in the service. */
const TEXT_MAX = 2_000;

/** What the page around the panel has asked for. */
export interface CommentRequest {
  /** A thread to show and focus, or a new comment. */
  threadId: string | undefined;
  isNew: boolean;
  /** Counts the requests, so that the same one can be repeated. */
  count: number;
}

interface Props {
  list: CommentList;
  isStaff: boolean;
  request: CommentRequest;
  onClose: () => void;
}

type Filter = "open" | "resolved";

/** The comments on a document: on wide screens beside the paper, on phones a sheet at the bottom. */
export function CommentsPanel({ list, isStaff, request, onClose }: Props) {
  const { t } = useTranslation();
  const controller = useController();
  const [filter, setFilter] = useState<Filter>("open");
  const [isWriting, setWriting] = useState(false);
  const [handled, setHandled] = useState(-1);
  // The comments that were unread when the panel opened stay marked until it closes.
  const [readBefore] = useState(list.readUntil);
  const panel = useRef<HTMLElement>(null);
  const active = useEditorValue(({ state }) => commentsOf(state).active ?? null);
  const requested = list.threads.find(({ id }) => id === request.threadId);
  if (handled !== request.count) {
    setHandled(request.count);
    setWriting(request.isNew && list.canComment);
    if (requested !== undefined) setFilter(requested.isResolved ? "resolved" : "open");
  }
  useEffect(() => {
    if (request.threadId === undefined) {
      if (request.isNew && list.canComment) return;
      controller.endComment();
      panel.current?.focus();
      return;
    }
    controller.selectThread(request.threadId);
    panel.current?.querySelector<HTMLElement>(`[data-thread="${CSS.escape(request.threadId)}"]`)?.focus();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a later list must not move the focus
  }, [controller, request]);
  useEffect(
    () => () => {
      controller.selectThread(undefined);
      controller.endComment();
    },
    [controller],
  );
  const isShown = ({ isResolved }: CommentThread) => isResolved === (filter === "resolved");
  const threads = list.threads.filter(isShown);
  const isActiveShown = threads.some(({ id }) => id === active);
  useEffect(() => {
    // Another user resolved or deleted the thread that was selected here.
    if (active !== null && !isActiveShown) controller.selectThread(undefined);
  }, [controller, active, isActiveShown]);
  const openCount = list.threads.filter(({ isResolved }) => !isResolved).length;
  const endWriting = () => {
    setWriting(false);
    controller.endComment();
  };
  const close = () => {
    onClose();
    controller.focus();
  };
  return (
    <aside ref={panel} tabIndex={-1} aria-label={t("editor.comments.title")} className="comments-panel">
      <div
        role="presentation"
        className="flex flex-col gap-3"
        onFocus={({ target }) => {
          const thread = target.closest<HTMLElement>("[data-thread]")?.dataset.thread;
          if (thread === undefined) return;
          controller.selectThread(thread);
          controller.revealThread(thread);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !event.defaultPrevented) close();
        }}
      >
        <div className="flex items-center gap-2">
          <h2 className="grow text-base font-semibold">{t("editor.comments.title")}</h2>
          <Button kind="quiet" aria-label={t("editor.comments.close")} className="px-0" onPress={close}>
            <X aria-hidden="true" className="size-5" />
          </Button>
        </div>
        <Segmented<Filter>
          label={t("editor.comments.filter")}
          value={filter}
          onChange={setFilter}
          options={[
            { id: "open", name: t("editor.comments.open"), count: openCount },
            { id: "resolved", name: t("editor.comments.resolved"), count: list.threads.length - openCount },
          ]}
        />
        {isWriting ? (
          <NewComment list={list} onEnd={endWriting} />
        ) : list.canComment ? (
          <Button
            onPress={() => {
              controller.beginComment();
              setWriting(true);
            }}
          >
            <MessageSquarePlus aria-hidden="true" className="size-5" />
            {t("editor.comments.new")}
          </Button>
        ) : null}
        {threads.length === 0 ? (
          <p className="text-soft text-sm">
            {t(filter === "open" ? "editor.comments.none" : "editor.comments.noneResolved")}
          </p>
        ) : (
          <ul className="flex flex-col gap-3" aria-label={t("editor.comments.title")}>
            {threads.map((thread) => (
              <Thread
                key={thread.id}
                thread={thread}
                list={list}
                readBefore={readBefore}
                isActive={thread.id === active}
                isStaff={isStaff}
                canComment={list.canComment}
              />
            ))}
          </ul>
        )}
      </div>
    </aside>
  );
}

/** Renews the list after a change, and reports its failure. */
function useChange<V>(documentId: string, change: (values: V) => Promise<unknown>, onDone?: () => void) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: queryKeys.document.comments(documentId) });
      onDone?.();
    },
    onError: (problem) => {
      const isGone = problem instanceof Problem && problem.details[0]?.code === "unknown_mention";
      toast(isGone ? t("editor.comments.notMentionable") : errorText(problem));
      if (isGone) void cache.invalidateQueries({ queryKey: queryKeys.document.comments(documentId) });
    },
  });
}

function NewComment({ list, onEnd }: { list: CommentList; onEnd: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  const quote = useEditorValue(({ state }) => {
    const { draft } = commentsOf(state);
    return draft === undefined ? null : state.doc.textBetween(draft.from, draft.to, " ").slice(0, 200);
  });
  const send = useChange<string>(
    list.documentId,
    async (text) => createThread(list.documentId, text, await controller.passageOfComment()),
    () => {
      onEnd();
      controller.focus();
    },
  );
  return (
    <div className="comment-thread">
      <Quote text={quote ?? undefined}>{quote === null ? t("editor.comments.whole") : undefined}</Quote>
      <CommentForm
        label={t("editor.comments.text")}
        list={list}
        send={t("editor.comments.send")}
        isPending={send.isPending}
        onSend={(text) => send.mutate(text)}
        onCancel={() => {
          onEnd();
          controller.focus();
        }}
      />
    </div>
  );
}

const Quote = ({ text, children }: { text?: string | undefined; children?: ReactNode }) => (
  <>
    {children === undefined ? null : <p className="text-soft text-sm">{children}</p>}
    {text === undefined ? null : <blockquote className="comment-quote">{text.replaceAll("\ufffc", " ")}</blockquote>}
  </>
);

function Thread({
  thread,
  list,
  readBefore,
  isActive,
  isStaff,
  canComment,
}: {
  thread: CommentThread;
  list: CommentList;
  readBefore: string | null;
  isActive: boolean;
  isStaff: boolean;
  canComment: boolean;
}) {
  const { t } = useTranslation();
  const controller = useController();
  const [isReplying, setReplying] = useState(false);
  const { documentId } = thread;
  const reply = useChange<string>(
    documentId,
    (text) => replyTo(thread, text),
    () => setReplying(false),
  );
  const resolve = useChange<boolean>(documentId, (isResolved) => setResolved(thread, isResolved));
  const isDeleted = thread.anchor === null && thread.quote !== null;
  const by = thread.comments[0]?.author.name ?? "";
  return (
    <li
      data-thread={thread.id}
      tabIndex={-1}
      aria-label={t("editor.comments.thread", { name: by })}
      aria-current={isActive}
      className={isActive ? "comment-thread active" : "comment-thread"}
    >
      {awaits(thread, controller.identity.userId) ? (
        <p className="mention-mark">{t("editor.comments.mentionsYou")}</p>
      ) : null}
      {thread.anchor === null ? (
        <Quote text={thread.quote ?? undefined}>
          {t(isDeleted ? "editor.comments.deletedText" : "editor.comments.whole")}
        </Quote>
      ) : (
        <button
          type="button"
          className="comment-quote cursor-pointer text-start"
          onClick={() => controller.goToThread(thread.id)}
        >
          <span className="sr-only">{t("editor.comments.goTo")} </span>
          {thread.quote?.replaceAll("\ufffc", " ")}
        </button>
      )}
      <ul className="flex flex-col gap-3">
        {thread.comments.map((comment) => (
          <Comment
            key={comment.id}
            thread={thread}
            list={list}
            comment={comment}
            isNew={isNew(comment, controller.identity.userId, readBefore)}
            isStaff={isStaff}
            canComment={canComment}
          />
        ))}
      </ul>
      {thread.resolvedBy === null || thread.resolvedAt === null ? null : (
        <p className="text-soft text-sm">
          {t("editor.comments.resolvedBy", { name: thread.resolvedBy.name })} · <Time at={thread.resolvedAt} />
        </p>
      )}
      {!canComment ? null : isReplying ? (
        <CommentForm
          label={t("editor.comments.reply")}
          list={list}
          send={t("editor.comments.reply")}
          isPending={reply.isPending}
          onSend={(text) => reply.mutate(text)}
          onCancel={() => setReplying(false)}
        />
      ) : (
        <div className="flex flex-wrap gap-2">
          <Button onPress={() => setReplying(true)}>{t("editor.comments.reply")}</Button>
          <Button
            kind="quiet"
            isPending={resolve.isPending}
            onPress={() => {
              resolve.mutate(!thread.isResolved);
              // The thread leaves the list.
              controller.focus();
            }}
          >
            {thread.isResolved ? (
              <RotateCcw aria-hidden="true" className="size-4" />
            ) : (
              <CheckCheck aria-hidden="true" className="size-4" />
            )}
            {t(thread.isResolved ? "editor.comments.reopen" : "editor.comments.resolve")}
          </Button>
        </div>
      )}
    </li>
  );
}

function Comment({
  thread,
  list,
  comment,
  isNew: isUnread,
  isStaff,
  canComment,
}: {
  thread: CommentThread;
  list: CommentList;
  comment: DocumentComment;
  isNew: boolean;
  isStaff: boolean;
  canComment: boolean;
}) {
  const { t } = useTranslation();
  const controller = useController();
  const [isEditing, setEditing] = useState(false);
  const { author, text } = comment;
  const isOwn = author.id === controller.identity.userId;
  const edit = useChange<string>(
    thread.documentId,
    (next) => editComment(thread, comment, next),
    () => setEditing(false),
  );
  const remove = useChange<void>(thread.documentId, () => deleteComment(thread, comment));
  const actions = [
    ...(isOwn ? [{ id: "edit", name: t("editor.comments.edit"), onAction: () => setEditing(true) }] : []),
    ...(isOwn || isStaff
      ? [{ id: "delete", name: t("editor.comments.delete"), isDanger: true, onAction: () => remove.mutate() }]
      : []),
  ];
  return (
    <li className="flex flex-col gap-1">
      <div className="flex items-center gap-2">
        <Avatar name={author.name} color={controller.colorOf(author.id)} />
        <span className="min-w-0 grow text-sm">
          <strong className="break-words">{author.name}</strong>{" "}
          <span className="text-soft">
            <Time at={comment.createdAt} />
            {comment.editedAt === null ? null : ` · ${t("editor.comments.edited")}`}
          </span>
          {isUnread ? <strong className="mention-mark ms-2">{t("editor.comments.isNew")}</strong> : null}
        </span>
        {canComment && actions.length > 0 && !isEditing ? (
          <OverflowMenu label={t("editor.comments.by", { name: author.name })} actions={actions} />
        ) : null}
      </div>
      {isEditing ? (
        <CommentForm
          label={t("editor.comments.text")}
          list={list}
          initial={text}
          send={t("app.save")}
          isPending={edit.isPending}
          onSend={(next) => edit.mutate(next)}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <p className={text === "" ? "text-soft italic" : "break-words whitespace-pre-wrap"}>
          {text === "" ? t("editor.comments.erased") : null}
          {partsOf(text, list.mentioned).map((part, index) =>
            "text" in part ? (
              part.text
            ) : (
              <strong key={index} className={part.id === controller.identity.userId ? "mention own" : "mention"}>
                @{part.name ?? t("editor.comments.formerMember")}
              </strong>
            ),
          )}
        </p>
      )}
    </li>
  );
}

function CommentForm({
  label,
  list,
  initial = "",
  send,
  isPending,
  onSend,
  onCancel,
}: {
  label: string;
  list: CommentList;
  /** The stored text that is edited. */
  initial?: string;
  send: string;
  isPending: boolean;
  onSend: (text: string) => void;
  onCancel: () => void;
}) {
  const { t } = useTranslation();
  const controller = useController();
  const [chosen, setChosen] = useState<readonly MentionedPerson[]>(() =>
    mentionedIn(initial, list.mentioned, t("editor.comments.formerMember")),
  );
  const [text, setText] = useState(() => readable(initial, chosen));
  const result = stored(text.trim(), list.mentionable, chosen);
  const submit = () => {
    if (result !== "" && !isPending) onSend(result);
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div
        role="presentation"
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
          if (event.key !== "Escape") return;
          event.preventDefault();
          onCancel();
        }}
      >
        <MentionArea
          label={label}
          // Ids are longer than most names.
          maxLength={TEXT_MAX - Math.max(0, result.length - text.trim().length)}
          value={text}
          people={list.mentionable.filter(({ id }) => id !== controller.identity.userId)}
          colorOf={(id) => controller.colorOf(id)}
          onChange={setText}
          onChoose={(person) => setChosen((before) => [...before, person])}
        />
      </div>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" isPending={isPending} isDisabled={result === ""}>
          {send}
        </Button>
        <Button kind="quiet" onPress={onCancel}>
          {t("ask.cancel")}
        </Button>
      </div>
    </form>
  );
}
