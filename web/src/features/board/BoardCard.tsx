import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Lock, Mail, MessageSquare, Pencil } from "../../components/base/icons";
import { StateChip } from "../../components/base/StateChip";
import { useTime } from "../../i18n/time";
import { type MenuAction, OverflowMenu } from "../../components/base/OverflowMenu";
import { type BoardGroup, isDone, isHelpNeeded, isLocked, quietSince } from "./board";
import { PresenceDot, WaitingTime, ActivityChart } from "./indicators";
import { NumberTile } from "../lesson/GroupName";
import { isNumberInName, numberedName, nameOf } from "../lesson/groupNames";
import { WorkChip } from "../lesson/WorkChip";

interface BoardCardProps {
  card: BoardGroup;
  at: number;
  isTabStop: boolean;
  isDense: boolean;
  actions: readonly MenuAction[];
  /** Called when the user opens the work of a group; going back returns to this card. */
  onOpen: () => void;
}

/** The card of one group on the board. Cards never move or grow: they are ordered by number, like seats in the classroom. */
export function BoardCard({ card, at, isTabStop, isDense, actions, onOpen }: BoardCardProps) {
  const { t } = useTranslation();
  const { group } = card;
  const comments = card.documents.reduce((sum, document) => sum + document.unreadComments, 0);
  return (
    <article
      aria-label={numberedName(group)}
      data-card={group.id}
      className={`bg-sheet relative flex h-full flex-col gap-1.5 rounded-xl border-2 p-3 shadow-xs has-[a:hover]:bg-accent-soft/30 ${isHelpNeeded(card) ? "border-help-ground" : "border-faint"}`}
    >
      <h2 className="flex items-center gap-2 text-base">
        {isNumberInName(group) ? null : <NumberTile number={group.groupNumber} />}
        {/* The whole card is the link; other actions are layered above it. */}
        <Link
          to="/topics/$topicId/work/$groupId"
          params={{ topicId: card.groupAssignment.assignmentId, groupId: group.id }}
          data-look={group.id}
          aria-describedby={`card-${group.id}`}
          tabIndex={isTabStop ? 0 : -1}
          onClick={onOpen}
          className="text-ink min-w-0 grow truncate font-semibold after:absolute after:inset-0 after:rounded-xl hover:no-underline focus-visible:outline-none focus-visible:after:outline-3 focus-visible:after:outline-offset-2 focus-visible:after:outline-(--color-accent)"
        >
          {isNumberInName(group) ? null : <span className="sr-only">{group.groupNumber} </span>}
          <strong className="font-semibold">{nameOf(group)}</strong>
        </Link>
        {isLocked(card) ? (
          <>
            <Lock aria-hidden="true" className="text-soft size-4 shrink-0" />
            <span className="sr-only">{t("state.FINISHED")}</span>
          </>
        ) : null}
        <span className="relative -my-2 -me-2">
          <OverflowMenu label={numberedName(group)} actions={actions} isTabStop={isTabStop} />
        </span>
      </h2>
      <div
        id={`card-${group.id}`}
        className={
          isDense ? "flex min-h-7 flex-wrap items-center justify-between gap-x-2" : "flex grow flex-col gap-1.5"
        }
      >
        <CardMembers card={card} isDense={isDense} />
        {isDense || group.isHidden ? null : <ActivityChart counts={card.activity} />}
        <p className={`mt-auto flex items-center gap-2 text-sm ${group.isHidden ? "min-h-6" : "h-6"}`}>
          {isHelpNeeded(card) ? (
            <StateChip state="help">
              <span className="sr-only">{t("board.needsHelp")} </span>
              {card.helpRequestedAt ? <WaitingTime moment={card.helpRequestedAt} /> : null}
            </StateChip>
          ) : null}
          {group.isHidden && !isDense ? null : <StatusChip card={card} at={at} />}
          {isDense ? null : (
            <span className={`text-soft min-w-0 ${group.isHidden ? "" : "truncate"}`}>
              <ActivityLine card={card} at={at} />
            </span>
          )}
          <span className="ms-auto flex shrink-0 items-center gap-3">
            {card.unreadMessages > 0 ? (
              <UnreadBadge
                icon={Mail}
                count={card.unreadMessages}
                text={t("groups.unread", { count: card.unreadMessages })}
              />
            ) : null}
            {comments > 0 ? (
              <UnreadBadge icon={MessageSquare} count={comments} text={t("groups.newComments", { count: comments })} />
            ) : null}
          </span>
        </p>
      </div>
    </article>
  );
}

function UnreadBadge({ icon: Icon, count, text }: { icon: typeof Mail; count: number; text: string }) {
  return (
    <span className="text-accent flex items-center gap-1 font-medium">
      <Icon aria-hidden="true" className="size-4" />
      <span aria-hidden="true">{count}</span>
      <span className="sr-only">{text}</span>
    </span>
  );
}

function CardMembers({ card, isDense }: { card: BoardGroup; isDense: boolean }) {
  const { t } = useTranslation();
  if (card.members.length === 0 && !isDense) return <p className="text-soft text-sm">{t("board.noMembers")}</p>;
  return (
    <ul className="flex flex-wrap gap-x-3 text-sm">
      {card.members.map(({ user, online }) => (
        <li key={user.id} className="flex max-w-full items-center gap-1">
          <PresenceDot online={online} />
          <span className={isDense ? "sr-only" : "truncate"}>{user.name}</span>
          <span className="sr-only"> {online ? t("board.here") : t("board.notHere")}</span>
          {card.writing.includes(user.id) ? (
            <>
              <Pencil aria-hidden="true" className="size-3.5 shrink-0" />
              {/* Otherwise the line below shows it. */}
              {card.helpRequestedAt || isDense ? <span className="sr-only"> {t("board.isWriting")}</span> : null}
            </>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

function StatusChip({ card, at }: { card: BoardGroup; at: number }) {
  const { t } = useTranslation();
  const { status, currentSubmission, lateAllowedUntil, assignment } = card.groupAssignment;
  if (card.group.isHidden) return <StateChip state="later">{t("board.isHidden")}</StateChip>;
  const grade = currentSubmission?.grade?.value ?? currentSubmission?.grade?.points?.toString();
  return (
    <WorkChip
      facts={{
        status,
        isLate: currentSubmission?.isLate ?? false,
        deadline: lateAllowedUntil ?? assignment.deadline,
        isFinished: assignment.status === "FINISHED",
      }}
      now={at}
      detail={status === "GRADED" ? grade : undefined}
    />
  );
}

/** Current activity as text: hidden, submitted at, who is typing, or how long the group has been inactive. */
function ActivityLine({ card, at }: { card: BoardGroup; at: number }) {
  const { t } = useTranslation();
  const { moment, clock } = useTime();
  if (card.group.isHidden && card.group.startDate) return t("board.hidden", { when: moment(card.group.startDate) });
  const submission = card.groupAssignment.currentSubmission;
  if (isDone(card)) return submission ? t("board.at", { time: clock(submission.submittedAt) }) : null;
  const writing = card.members
    .filter((member) => card.writing.includes(member.user.id))
    .map((member) => member.user.name);
  if (writing.length > 0) return t("board.writing", { names: writing.join(", "), count: writing.length });
  const quiet = quietSince(card, at);
  if (quiet === undefined) return null;
  const minutes = Math.floor((at - quiet) / 60_000);
  return minutes < 60
    ? t("board.quietFor", { minutes })
    : t("board.lastChange", { when: moment(new Date(quiet).toISOString()) });
}
