import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Problem } from "../../api/client";
import { after, board, type Board, type Filter, FILTERS, needs, passes } from "../../board/board";
import { Cards, focusCard, groupAt } from "../../board/Cards";
import { type Doing, Doings } from "../../board/Doings";
import { Finished } from "../../board/Finish";
import { useMarked, without } from "../../board/handled";
import { Actions, Filters, Head } from "../../board/Head";
import { Rail } from "../../board/Rail";
import { Said } from "../../board/Said";
import { now, useNow } from "../../lib/clock";
import { useKeys } from "../../lib/keys";
import { isStaff, only } from "../../lib/session";
import { useTime } from "../../lib/time";
import { asButton, Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";

export const Route = createFileRoute("/_school/t/$topicId/board")({
  validateSearch: (search: Record<string, unknown>): { show?: Filter } => {
    const show = FILTERS.find((filter) => filter === search.show);
    return show === undefined || show === "all" ? {} : { show };
  },
  beforeLoad: only(isStaff),
  // Asked for while the page itself is on its way; what goes wrong is shown by the page.
  loader: ({ context, params }) => void context.cache.prefetchQuery(board(params.topicId)),
  component: LessonBoard,
});

/** S7: who works, who waits for help, how much time is left: read in two seconds, from across the room. */
function LessonBoard() {
  const { t } = useTranslation();
  const { topicId } = Route.useParams();
  const found = useQuery(board(topicId));
  // A teacher who lost the class meanwhile sees that, and not the last state as if it were live.
  const isGone = found.error instanceof Problem && found.error.status === 404;
  if (found.data && !isGone) return <Lesson found={found.data} failedAt={found.isError ? found.dataUpdatedAt : undefined} again={() => void found.refetch()} />;
  return (
    <div className="flex flex-col gap-4" data-wide>
      <Heading title={t("board.title")}>{t("board.title")}</Heading>
      {found.isPending ? <Shape count={8} /> : <Problems problem={found.error} again={() => void found.refetch()} />}
    </div>
  );
}

function Lesson({ found: told, failedAt, again }: { found: Board; failedAt: number | undefined; again: () => void }) {
  const { t } = useTranslation();
  const found = without(told, useMarked());
  const at = useNow(10_000);
  const { show = "all" } = Route.useSearch();
  const navigate = Route.useNavigate();
  const [doing, setDoing] = useState<Doing>();
  const [isRailOpen, setRailOpen] = useState(false);
  const cards = found.groups.filter((card) => passes(card, show, at));
  const isEmpty = found.groups.length === 0;
  const isOver = found.assignment.status === "FINISHED";
  const onShow = (filter: Filter) => void navigate({ search: filter === "all" ? {} : { show: filter }, replace: true });
  const { goTo, onLook } = useWayBack(found.assignment.id, () => onShow("all"));
  useBoardKeys({ found, at, goTo, onDo: setDoing, onRail: () => setRailOpen(true), onProjector: () => void navigate({ to: "/t/$topicId/projector" }) });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 pb-16 lg:grid-cols-[minmax(0,1fr)_18rem] lg:pb-0" data-wide>
      <div className="flex flex-col gap-3">
        <Head found={found} at={at} />
        {isOver ? <Finished found={found} /> : null}
        {failedAt === undefined ? null : <Stale since={failedAt} again={again} />}
        <div className="flex flex-wrap justify-between gap-2">
          {isEmpty ? <span /> : <Filters found={found} at={at} show={show} onShow={onShow} />}
          <Actions found={found} onDo={setDoing} />
        </div>
        {isEmpty ? <NoGroups found={found} /> : null}
        {!isEmpty && cards.length === 0 ? (
          <Empty action={<Button onPress={() => onShow("all")}>{t("board.showAll")}</Button>}>{t("board.noneShown")}</Empty>
        ) : null}
        <Cards cards={cards} count={found.groups.length} at={at} onDo={setDoing} onLook={onLook} />
        {isEmpty ? null : <p className="text-soft text-sm">{t("board.privacy")}</p>}
      </div>
      {isEmpty ? null : <Rail found={found} isOver={isOver} isOpen={isRailOpen} onOpen={setRailOpen} onLook={onLook} />}
      <Said found={found} />
      {doing ? <Doings doing={doing} found={found} onlyOpen={show === "open"} onClose={() => setDoing(undefined)} /> : null}
    </div>
  );
}

/** The board could not be asked anew: what is shown is of then. */
function Stale({ since, again }: { since: number; again: () => void }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  return (
    <p className="text-bad flex flex-wrap items-center gap-3">
      {t("board.stale", { when: moment(new Date(since).toISOString()) })} <Button onPress={again}>{t("problem.again")}</Button>
    </p>
  );
}

function NoGroups({ found }: { found: Board }) {
  const { t } = useTranslation();
  const { id, courseId } = found.assignment;
  return (
    <Empty
      action={
        <span className="flex flex-wrap gap-2">
          {courseId === null ? null : (
            <Link to="/courses/$courseId/divide" params={{ courseId }} search={{ topic: id }} className={asButton("main")}>
              {t("board.divide")}
            </Link>
          )}
          <Link to="/t/$topicId" params={{ topicId: id }} className={asButton()}>
            {t("board.choose")}
          </Link>
        </span>
      }
    >
      {t("board.none")}
    </Empty>
  );
}

/** Remembers the card somebody looks into, and comes back to it; goes to a card also when a filter hides it. */
function useWayBack(topicId: string, showAll: () => void): { goTo: (id: string) => void; onLook: (id: string) => void } {
  const kept = `board:${topicId}`;
  const goal = useRef<string>(undefined);
  useEffect(() => {
    const last = sessionStorage.getItem(kept);
    sessionStorage.removeItem(kept);
    if (last !== null) focusCard(last);
  }, [kept]);
  useEffect(() => {
    if (goal.current !== undefined && focusCard(goal.current)) goal.current = undefined;
  });
  const goTo = (id: string) => {
    if (focusCard(id)) return;
    goal.current = id;
    showAll();
  };
  return { goTo, onLook: (id) => sessionStorage.setItem(kept, id) };
}

interface Hands {
  found: Board;
  at: number;
  goTo: (id: string) => void;
  onDo: (doing: Doing) => void;
  onRail: () => void;
  onProjector: () => void;
}

/** The keys of the board; those of the cards themselves stand with the cards. */
function useBoardKeys({ found, at, goTo, onDo, onRail, onProjector }: Hands): void {
  const typed = useRef({ digits: "", at: 0 });
  const number = (digit: string) => {
    const moment = now();
    // "1" and at once "2" is group 12, where there is one.
    const digits = moment - typed.current.at < 800 ? typed.current.digits + digit : digit;
    const card = found.groups.find((one) => one.group.groupNumber === Number(digits)) ?? found.groups.find((one) => one.group.groupNumber === Number(digit));
    typed.current = { digits, at: moment };
    if (card) goTo(card.group.id);
  };
  const first = () => {
    onRail();
    requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-handled="0"]')?.focus());
  };
  useKeys({
    h: found.helpQueue.length > 0 ? first : undefined,
    n: () => {
      const goal = after(needs(found, at), groupAt(document.activeElement));
      if (goal !== undefined) goTo(goal);
    },
    m: () => {
      const groupId = groupAt(document.activeElement);
      if (groupId !== undefined) onDo({ what: "message", groupId });
    },
    b: onProjector,
    "/": () => document.querySelector<HTMLElement>("[aria-pressed=true]")?.focus(),
    ...Object.fromEntries([..."0123456789"].map((digit) => [digit, () => number(digit)])),
  });
}
