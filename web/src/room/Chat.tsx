import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../api/client";
import { draft, keepDraft } from "../lib/drafts";
import { Button } from "../ui/Button";
import { Problems } from "../ui/Problems";
import { chat, type Message } from "./room";

/** The talk of a group with itself and its teachers. What could not be sent stays in the field. */
export function Chat({ workRoomId, own, canWrite }: { workRoomId: string; own: string; canWrite: boolean }) {
  const { t } = useTranslation();
  const pages = useInfiniteQuery(chat(workRoomId));
  const messages = (pages.data?.pages ?? []).flatMap((page) => page.data).toReversed();
  const last = messages.at(-1);
  const end = useRef<HTMLDivElement>(null);
  const lastId = last?.id;
  useEffect(() => {
    if (lastId) end.current?.scrollIntoView({ block: "nearest" });
  }, [lastId]);
  useRead(workRoomId, last, own);
  return (
    <section aria-label={t("chat.title")} className="flex min-h-0 flex-col gap-3">
      {pages.isError ? <Problems problem={pages.error} again={() => void pages.refetch()} /> : null}
      {pages.hasNextPage ? <Button onPress={() => void pages.fetchNextPage()}>{t("chat.earlier")}</Button> : null}
      <div role="log" aria-label={t("chat.title")} className="flex max-h-96 flex-col gap-2 overflow-y-auto">
        {messages.length === 0 && pages.isSuccess ? <p className="text-soft">{t("chat.none")}</p> : null}
        {messages.map((message) => (
          <Line key={message.id} message={message} own={own} />
        ))}
        <div ref={end} />
      </div>
      {canWrite ? <Write workRoomId={workRoomId} own={own} /> : null}
    </section>
  );
}

function Line({ message, own }: { message: Message; own: string }) {
  const { t, i18n } = useTranslation();
  const time = new Intl.DateTimeFormat(i18n.language, { timeStyle: "short" }).format(new Date(message.createdAt));
  return (
    <p className="break-words whitespace-pre-wrap">
      <strong>{message.senderId === own ? t("chat.you") : (message.sender?.name ?? "")}</strong> <time className="text-soft text-sm">{time}</time>
      <br />
      {message.deletedAt ? <em>{t("chat.deleted")}</em> : message.content}
    </p>
  );
}

function Write({ workRoomId, own }: { workRoomId: string; own: string }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [words, setWords] = useState(() => draft(own, workRoomId));
  // One number for one message, however often it is sent: the service takes it once.
  const number = useRef(crypto.randomUUID());
  const keep = (text: string) => {
    setWords(text);
    keepDraft(own, workRoomId, text);
  };
  const send = useMutation({
    mutationFn: (content: string) =>
      client.POST("/workrooms/{id}/messages", { params: { path: { id: workRoomId } }, body: { content, clientMessageId: number.current } }),
    onSuccess: () => {
      number.current = crypto.randomUUID();
      keep("");
    },
    onSettled: () => cache.invalidateQueries({ queryKey: ["chat", workRoomId] }),
  });
  const go = () => {
    if (words.trim() !== "" && !send.isPending) send.mutate(words);
  };
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <label className="flex grow flex-col">
        <span className="sr-only">{t("chat.write")}</span>
        <textarea
          className="bg-sheet border-line min-h-11 w-full rounded-lg border p-2"
          rows={2}
          maxLength={4000}
          placeholder={t("chat.write")}
          value={words}
          onChange={(event) => keep(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault();
              go();
            }
          }}
        />
      </label>
      <Button kind="main" type="submit" isPending={send.isPending}>
        {send.isError ? t("chat.again") : t("chat.send")}
      </Button>
      {send.isError ? <span role="alert" className="text-bad text-sm">{t("chat.notSent")}</span> : null}
    </form>
  );
}

/** Says that everything up to the last message was read, while this page is looked at. */
function useRead(workRoomId: string, last: Message | undefined, own: string): void {
  const cache = useQueryClient();
  useEffect(() => {
    if (!last || last.senderId === own || document.hidden) return;
    void client
      .POST("/workrooms/{id}/read", { params: { path: { id: workRoomId } }, body: { lastReadMessageId: last.id } })
      .then(() => cache.invalidateQueries({ queryKey: ["groups"] }))
      .catch(() => undefined);
  }, [workRoomId, last, own, cache]);
}
