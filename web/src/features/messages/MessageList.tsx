import { useInfiniteQuery } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useTranslation } from "react-i18next";

import { LoadMore } from "../../components/LoadMore";
import { EmptyState } from "../../components/base/EmptyState";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { type Message, messagesQuery } from "./messages";
import { MessageView } from "./MessageView";
import { type Box as BoxName } from "./boxes";

interface Props {
  box: BoxName;
  classId?: string | undefined;
  own: string;
  /** Id of the open message, stored in the URL. */
  openId: string | undefined;
  onOpen: (id: string | undefined) => void;
  onReply: (message: Message) => void;
  classNameOf: (id: string) => string | undefined;
}

/** The messages of a folder, newest first; each opens in place. */
export function MessageList({ box, classId, own, openId, onOpen, onReply, classNameOf }: Props) {
  const { t } = useTranslation();
  const pages = useInfiniteQuery(messagesQuery(box, classId));
  const all = (pages.data?.pages ?? []).flatMap((page) => page.data);
  if (pages.isPending) return <Skeleton />;
  if (!pages.data) return <ErrorMessage problem={pages.error} onRetry={() => void pages.refetch()} />;
  if (all.length === 0) return <EmptyState>{t(`messages.none.${box}`)}</EmptyState>;
  return (
    <div className="flex flex-col items-start gap-3">
      <ul className="border-faint bg-sheet divide-faint w-full divide-y rounded-xl border">
        {all.map((one) => (
          <li key={one.id}>
            <MessageRow message={one} own={own} isOpen={one.id === openId} onOpen={onOpen} classNameOf={classNameOf} />
            {one.id === openId ? (
              <MessageView preview={one} own={own} onReply={onReply} onDeleted={() => onOpen(undefined)} />
            ) : null}
          </li>
        ))}
      </ul>
      <LoadMore pages={pages} />
    </div>
  );
}

interface MessageRowProps {
  message: Message;
  own: string;
  isOpen: boolean;
  onOpen: (id: string | undefined) => void;
  classNameOf: (id: string) => string | undefined;
}

function MessageRow({ message, own, isOpen, onOpen, classNameOf }: MessageRowProps) {
  const { t } = useTranslation();
  const isOwn = message.sender.id === own;
  const isNew = message.readAt === null && !isOwn;
  const names = (message.recipients ?? []).map((one) => one.name);
  const more = (message.recipientCount ?? 0) - names.length;
  const to =
    message.classId === null
      ? `${names.join(", ")}${more > 0 ? ` ${t("messages.more", { count: more })}` : ""}`
      : t("messages.class", { name: classNameOf(message.classId) ?? "" });
  return (
    <h2 className="text-base font-normal">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => onOpen(isOpen ? undefined : message.id)}
        className="hover:bg-faint flex min-h-11 w-full cursor-pointer flex-wrap items-center gap-x-3 px-3 py-2 text-start"
      >
        <span className={`flex min-w-0 grow basis-48 flex-col ${isNew ? "font-semibold" : ""}`}>
          <span className="flex flex-wrap items-center gap-x-2">
            {isNew ? (
              <span className="bg-accent text-on-accent rounded-full px-1.5 text-xs">{t("messages.new")}</span>
            ) : null}
            {isOwn ? t("messages.to", { names: to }) : message.sender.name}
            {message.classId !== null && !isOwn ? <span className="text-soft text-sm font-normal">{to}</span> : null}
          </span>
          <span className="text-soft truncate">{message.subject ?? message.content.split("\n")[0]}</span>
        </span>
        <span className="text-soft text-sm whitespace-nowrap">
          <Time at={message.createdAt} />
        </span>
        <ChevronDown aria-hidden="true" className={`size-4 shrink-0 ${isOpen ? "rotate-180" : ""}`} />
      </button>
    </h2>
  );
}
