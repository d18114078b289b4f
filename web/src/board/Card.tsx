import { Link } from "@tanstack/react-router";
import { Hand, Pencil } from "lucide-react";
import { useTranslation } from "react-i18next";

import { minutes } from "../lib/clock";
import { Chip } from "../ui/Chip";
import { type BoardGroup, isDone, nameOf, quietSince } from "./board";

/** One group on the board. It never moves: its place is its number, as the seats in the room. */
export function Card({ card, at, isTabStop }: { card: BoardGroup; at: number; isTabStop: boolean }) {
  const { t } = useTranslation();
  const quiet = quietSince(card, at);
  const title = `${card.group.groupNumber} ${nameOf(card.group)}`;
  const writing = card.members.filter((member) => card.writing.includes(member.user.id)).map((member) => member.user.name);
  return (
    <Link
      to="/g/$groupId"
      params={{ groupId: card.group.id }}
      data-card={card.group.id}
      tabIndex={isTabStop ? 0 : -1}
      className={`bg-sheet text-ink flex h-full flex-col gap-2 rounded-xl border-2 p-3 hover:no-underline ${card.needsHelp ? "border-warn" : "border-faint"}`}
    >
      <span className="flex items-baseline justify-between gap-2">
        <strong>{title}</strong>
        {card.needsHelp ? (
          <span className="text-warn whitespace-nowrap">
            <Hand aria-hidden="true" className="inline size-5" />{" "}
            {t("board.needsHelp")}
          </span>
        ) : null}
      </span>
      <span className="flex flex-wrap gap-x-3 text-sm">
        {card.members.map((member) => (
          <span key={member.user.id} className="whitespace-nowrap">
            <Dot online={member.online} /> {member.user.name}
            <span className="sr-only"> {member.online ? t("board.here") : t("board.notHere")}</span>
            {card.writing.includes(member.user.id) ? <Pencil aria-hidden="true" className="ms-1 inline size-3.5" /> : null}
          </span>
        ))}
      </span>
      <Strip counts={card.activity} />
      <span className="mt-auto flex flex-wrap items-center gap-2 text-sm">
        <Chip tone={isDone(card) ? "good" : "plain"}>{t(`state.${card.groupAssignment.status}`)}</Chip>
        {writing.length > 0 ? t("board.writing", { names: writing.join(", "), count: writing.length }) : null}
        {quiet === undefined ? null : t("board.quietFor", { minutes: Math.floor((at - quiet) / 60_000) })}
        {card.unreadMessages > 0 ? <Chip tone="warn">{t("groups.unread", { count: card.unreadMessages })}</Chip> : null}
        {card.helpRequestedAt ? <span className="tabular-nums">{minutes(at - Date.parse(card.helpRequestedAt))}</span> : null}
      </span>
    </Link>
  );
}

/** A filled dot is here, a hollow one is not; a drawing, because forced colours take the fill of backgrounds away. */
function Dot({ online }: { online: boolean }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 10 10" className="inline size-2.5">
      <circle cx="5" cy="5" r="4" fill={online ? "currentColor" : "none"} stroke="currentColor" strokeWidth="1.5" />
    </svg>
  );
}

/** What happened in the last twenty minutes, scaled for this group alone: groups are not compared. */
function Strip({ counts }: { counts: readonly number[] }) {
  const { t } = useTranslation();
  const most = Math.max(1, ...counts);
  const active = counts.filter((count) => count > 0).length;
  return (
    <>
      <span className="sr-only">{t("board.activity", { count: active })}</span>
      <svg aria-hidden="true" viewBox={`0 0 ${counts.length * 5} 16`} className="text-accent h-4 w-full" preserveAspectRatio="none">
        {counts.map((count, minute) => (
          <rect key={minute} x={minute * 5} y={15 - (14 * count) / most} width="4" height={1 + (14 * count) / most} fill="currentColor" />
        ))}
      </svg>
    </>
  );
}
