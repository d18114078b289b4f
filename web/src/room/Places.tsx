import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Choice } from "../ui/Choice";
import { type Place, PLACES, type Topic, type WorkRoom } from "./room";

const TAB = "text-ink flex min-h-11 min-w-0 items-center gap-1.5 border-b-3 px-1.5 text-sm hover:no-underline sm:px-3 sm:text-base";
const HERE = "border-accent font-semibold";
const THERE = "border-transparent";

interface Props {
  found: WorkRoom;
  topic: Topic | undefined;
  /** A document is open. */
  isOpen: boolean;
  place: Place;
  isWide: boolean;
  hasNews: boolean;
}

/** The way between the places of a room; what stands at the side of a wide screen needs no way there. */
export function Places({ found, topic, isOpen, place, isWide, hasNews }: Props) {
  const { t } = useTranslation();
  const count: Partial<Record<Place, number>> = { documents: found.documents.length, chat: found.unreadCount };
  const shown = PLACES.filter((one) => !isWide || one === "task" || one === "feedback");
  const isAtSide = isWide && (place === "chat" || place === "documents");
  const isHere = (one: Place) => !(isOpen && isWide) && (one === place || (isAtSide && one === "task"));
  return (
    <nav aria-label={t("room.places")} className="border-faint flex min-w-0 flex-wrap border-b">
      {shown.map((one) => (
        <To key={one} found={found} topic={topic} place={one} isHere={isHere(one)}>
          {t(`room.place.${one}`)}
          {count[one] ? <span className={one === "chat" ? "text-warn font-semibold" : "text-soft"}>{count[one]}</span> : null}
          {one === "chat" && count.chat ? <span className="sr-only">{t("room.chat.new")}</span> : null}
          {one === "feedback" && hasNews && !isHere(one) ? <span className="bg-warn text-page rounded-full px-1.5 text-xs font-semibold">{t("feedback.new")}</span> : null}
        </To>
      ))}
    </nav>
  );
}

function To({ found, topic, place, isHere, children }: { found: WorkRoom; topic: Topic | undefined; place: Place; isHere: boolean; children: ReactNode }) {
  return (
    <Link
      to="/g/$groupId"
      params={{ groupId: found.groupId }}
      search={{ place, ...(topic ? { topic: topic.assignmentId } : {}) }}
      aria-current={isHere ? "page" : undefined}
      className={`${TAB} ${isHere ? HERE : THERE}`}
    >
      {children}
    </Link>
  );
}

/** Which topic it is about, where the group has several. */
export function Topics({ groupId, topics, topic, place }: { groupId: string; topics: readonly Topic[]; topic: Topic; place: Place }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const go = (id: string) => void navigate({ to: "/g/$groupId", params: { groupId }, search: { place, topic: id } });
  return <Choice label={t("room.topic")} options={topics.map((one) => ({ id: one.assignmentId, name: one.assignment.title }))} value={topic.assignmentId} onChange={go} />;
}
