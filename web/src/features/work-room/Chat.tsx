import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useTime } from "../../i18n/time";
import { LoadMore } from "../../components/LoadMore";
import { ErrorMessage } from "../../components/ErrorMessage";
import { chatQuery, firstUnread, mergePages, type RoomMessage } from "./chat";
import { ChatMessage } from "./ChatMessage";
import { ChatComposer } from "./ChatComposer";
import { useIsPageVisible } from "./screen";
import { updateUnreadCount } from "./chatEvents";

interface Props {
  workRoomId: string;
  own: string;
  /** Number of unread messages when the room was opened. */
  unread: number;
  isStaff: boolean;
  isArchived: boolean;
}

/** Chat of a group with its teachers. */
export function Chat({ workRoomId, own, unread, isStaff, isArchived }: Props) {
  const { t } = useTranslation();
  const { day } = useTime();
  const pages = useInfiniteQuery(chatQuery(workRoomId));
  const messages = mergePages(pages.data?.pages ?? []);
  const first = useUnreadMarker(messages, own, unread, pages.isSuccess);
  const log = useStickToBottom(messages.at(-1)?.id, first);
  useReadReceipt(workRoomId, messages.at(-1), own);
  return (
    <div className="flex min-h-0 grow flex-col gap-3">
      {pages.isError && !pages.data ? (
        <ErrorMessage problem={pages.error} onRetry={() => void pages.refetch()} />
      ) : null}
      {/* oxlint-disable jsx-a11y/no-noninteractive-tabindex -- scrollable content has to be focusable */}
      <div
        ref={log}
        role="log"
        tabIndex={0}
        aria-label={t("room.chat.title")}
        aria-live={pages.isFetchingNextPage ? "off" : "polite"}
        aria-busy={pages.isPending}
        className="flex max-h-[60vh] flex-col gap-2 overflow-y-auto rounded-lg p-1 xl:max-h-none xl:min-h-0 xl:grow"
      >
        {/* oxlint-enable jsx-a11y/no-noninteractive-tabindex */}
        <span className="mt-auto" />
        <LoadMore pages={pages} className="self-center" label={t("room.chat.earlier")} />
        {messages.length === 0 && pages.isSuccess ? <p className="text-soft">{t("room.chat.none")}</p> : null}
        {messages.map((message, index) => (
          <Fragment key={message.id}>
            {index === 0 || day(messages[index - 1]!.createdAt) !== day(message.createdAt) ? (
              <p className="text-soft text-center text-sm">{day(message.createdAt)}</p>
            ) : null}
            {message.id === first ? (
              <p className="text-warn border-warn border-b text-sm font-medium">{t("room.chat.new")}</p>
            ) : null}
            <ChatMessage message={message} own={own} isStaff={isStaff} isArchived={isArchived} />
          </Fragment>
        ))}
      </div>
      {isArchived ? null : <ChatComposer workRoomId={workRoomId} own={own} />}
    </div>
  );
}

/** Position of the "new messages" marker: set when the messages are loaded, kept until the page is hidden and others write. */
function useUnreadMarker(
  messages: readonly RoomMessage[],
  own: string,
  unread: number,
  isLoaded: boolean,
): string | undefined {
  const isPageVisible = useIsPageVisible();
  const [marker, setMarker] = useState<{ first: string | undefined }>();
  const seen = useRef<number>(undefined);
  const last = messages.at(-1);
  if (marker === undefined && isLoaded) setMarker({ first: firstUnread(messages, own, unread) });
  useEffect(() => {
    if (isPageVisible) seen.current = last?.seq;
    else if (last && seen.current !== undefined && last.seq > seen.current && last.senderId !== own) {
      const next = messages.find((message) => message.seq > (seen.current ?? 0) && message.senderId !== own);
      setMarker((now) => (now?.first === next?.id ? now : { first: next?.id }));
    }
  }, [isPageVisible, last, messages, own]);
  return marker?.first;
}

/** Keeps the end of the chat visible, unless the user has scrolled up. */
function useStickToBottom(lastId: string | undefined, mark: string | undefined) {
  const log = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  useEffect(() => {
    const box = log.current;
    const updateIsNear = () => {
      if (box) isNear.current = box.scrollHeight - box.scrollTop - box.clientHeight < 120;
    };
    const scrollToEnd = new ResizeObserver(() => isNear.current && box?.scrollTo(0, box.scrollHeight));
    box?.addEventListener("scroll", updateIsNear);
    if (box) scrollToEnd.observe(box);
    return () => {
      scrollToEnd.disconnect();
      box?.removeEventListener("scroll", updateIsNear);
    };
  }, []);
  useLayoutEffect(() => {
    // Follows content added at the end: new messages, or the marker above them.
    if ((mark ?? lastId) !== undefined && isNear.current) log.current?.scrollTo(0, log.current.scrollHeight);
  }, [lastId, mark]);
  return log;
}

/** Marks everything up to the last message as read while the page is visible. */
function useReadReceipt(workRoomId: string, last: RoomMessage | undefined, own: string): void {
  const cache = useQueryClient();
  const isPageVisible = useIsPageVisible();
  const lastId = last?.senderId === own ? undefined : last?.id;
  useEffect(() => {
    if (lastId === undefined || !isPageVisible) return;
    void client
      .POST("/workrooms/{id}/read", { params: { path: { id: workRoomId } }, body: { lastReadMessageId: lastId } })
      .then(({ data }) => data && updateUnreadCount(cache, workRoomId, () => data.unreadCount))
      .catch(() => undefined);
  }, [workRoomId, lastId, isPageVisible, cache]);
}
