import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Problem } from "../../api/client";
import {
  nextInCycle,
  boardQuery,
  type Board,
  type Filter,
  FILTERS,
  groupsNeedingTeacher,
  matchesFilter,
} from "../../features/board/board";
import { BoardGrid, focusCard, groupAt } from "../../features/board/BoardGrid";
import { type BoardDialog, BoardDialogs } from "../../features/board/BoardDialogs";
import { FinishedTopicBanner } from "../../features/board/FinishTopic";
import { useHandledCalls, withoutHandledCalls } from "../../features/board/handledCalls";
import { BoardActions, BoardFilters, BoardHeader } from "../../features/board/BoardHeader";
import { Sidebar } from "../../features/board/Sidebar";
import { Announcer } from "../../features/board/Announcer";
import { serverNow, useNow } from "../../hooks/serverClock";
import { useShortcuts } from "../../hooks/useShortcuts";
import { isStaff } from "../../auth/session";
import { redirectToOwnGroup } from "../../features/topics/ownGroup";
import { useTime } from "../../i18n/time";
import { buttonClass, Button } from "../../components/Button";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";

export const Route = createFileRoute("/_school/topics/$topicId/board")({
  validateSearch: (search: Record<string, unknown>): { show?: Filter } => {
    const show = FILTERS.find((filter) => filter === search.show);
    return show === undefined || show === "all" ? {} : { show };
  },
  // A board that is shared with students leads them to their side of the topic.
  beforeLoad: async ({ context, params }) => {
    if (!isStaff(context.person)) await redirectToOwnGroup(context.cache, params.topicId);
  },
  // Prefetches the board while the page loads; the page shows errors.
  loader: ({ context, params }) => void context.cache.prefetchQuery(boardQuery(params.topicId)),
  component: LessonBoard,
});

/** The lesson board: who works, who waits for help, how much time is left; readable at a glance from across the room. */
function LessonBoard() {
  const { t } = useTranslation();
  const { topicId } = Route.useParams();
  const found = useQuery(boardQuery(topicId));
  // A teacher who has lost the class sees an error instead of the last state.
  const isGone = found.error instanceof Problem && found.error.status === 404;
  if (found.data && !isGone)
    return (
      <Lesson
        found={found.data}
        failedAt={found.isError ? found.dataUpdatedAt : undefined}
        again={() => void found.refetch()}
      />
    );
  return (
    <div className="flex flex-col gap-4">
      <PageHeading title={t("board.title")}>{t("board.title")}</PageHeading>
      {found.isPending ? (
        <Skeleton count={8} />
      ) : (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      )}
    </div>
  );
}

function Lesson({
  found: fetchedBoard,
  failedAt,
  again,
}: {
  found: Board;
  failedAt: number | undefined;
  again: () => void;
}) {
  const { t } = useTranslation();
  const board = withoutHandledCalls(fetchedBoard, useHandledCalls());
  const at = useNow(10_000);
  const { show = "all" } = Route.useSearch();
  const navigate = Route.useNavigate();
  const [dialog, setDialog] = useState<BoardDialog>();
  const [isSidebarOpen, setSidebarOpen] = useState(false);
  const cards = board.groups.filter((card) => matchesFilter(card, show, at));
  const isEmpty = board.groups.length === 0;
  const isOver = board.assignment.status === "FINISHED";
  const onShow = (filter: Filter) => void navigate({ search: filter === "all" ? {} : { show: filter }, replace: true });
  const { goTo, onLook: onOpen } = useReturnToCard(board.assignment.id, () => onShow("all"));
  useBoardKeys({
    board,
    at,
    goTo,
    onDialog: setDialog,
    onSidebar: () => setSidebarOpen(true),
    onProjector: () => void navigate({ to: "/topics/$topicId/projector" }),
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 pb-16 lg:grid-cols-[minmax(0,1fr)_18rem] lg:pb-0">
      <div className="flex flex-col gap-3">
        <BoardHeader board={board} at={at} />
        {isOver ? <FinishedTopicBanner board={board} /> : null}
        {failedAt === undefined ? null : <StaleNotice since={failedAt} again={again} />}
        <div className="flex flex-wrap justify-between gap-2">
          {isEmpty ? <span /> : <BoardFilters board={board} at={at} show={show} onShow={onShow} />}
          <BoardActions board={board} onDo={setDialog} />
        </div>
        {isEmpty ? <NoGroups board={board} /> : null}
        {!isEmpty && cards.length === 0 ? (
          <EmptyState action={<Button onPress={() => onShow("all")}>{t("board.showAll")}</Button>}>
            {t("board.noneShown")}
          </EmptyState>
        ) : null}
        <BoardGrid cards={cards} count={board.groups.length} at={at} onDo={setDialog} onOpen={onOpen} />
        {isEmpty ? null : <p className="text-soft text-sm">{t("board.privacy")}</p>}
      </div>
      {isEmpty ? null : (
        <Sidebar board={board} isOver={isOver} isOpen={isSidebarOpen} onOpen={setSidebarOpen} onShow={onOpen} />
      )}
      <Announcer board={board} />
      {dialog ? (
        <BoardDialogs dialog={dialog} board={board} onlyOpen={show === "open"} onClose={() => setDialog(undefined)} />
      ) : null}
    </div>
  );
}

/** The board could not be refetched: shows the time of the displayed data. */
function StaleNotice({ since, again }: { since: number; again: () => void }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  return (
    <p className="text-bad flex flex-wrap items-center gap-3">
      {t("board.stale", { when: moment(new Date(since).toISOString()) })}{" "}
      <Button onPress={again}>{t("problem.again")}</Button>
    </p>
  );
}

function NoGroups({ board }: { board: Board }) {
  const { t } = useTranslation();
  const { id, courseId } = board.assignment;
  return (
    <EmptyState
      action={
        <span className="flex flex-wrap gap-2">
          {courseId === null ? null : (
            <Link
              to="/courses/$courseId/divide"
              params={{ courseId }}
              search={{ topic: id }}
              className={buttonClass("main")}
            >
              {t("board.divide")}
            </Link>
          )}
          <Link to="/topics/$topicId" params={{ topicId: id }} className={buttonClass()}>
            {t("board.choose")}
          </Link>
        </span>
      }
    >
      {t("board.none")}
    </EmptyState>
  );
}

/** Remembers the card that the user opened and focuses it on return; clears a filter that hides it. */
function useReturnToCard(
  topicId: string,
  showAll: () => void,
): { goTo: (id: string) => void; onLook: (id: string) => void } {
  const storedId = `board:${topicId}`;
  const target = useRef<string>(undefined);
  useEffect(() => {
    const last = sessionStorage.getItem(storedId);
    sessionStorage.removeItem(storedId);
    if (last !== null) focusCard(last);
  }, [storedId]);
  useEffect(() => {
    if (target.current !== undefined && focusCard(target.current)) target.current = undefined;
  });
  const goTo = (id: string) => {
    if (focusCard(id)) return;
    target.current = id;
    showAll();
  };
  return { goTo, onLook: (id) => sessionStorage.setItem(storedId, id) };
}

interface BoardKeyHandlers {
  board: Board;
  at: number;
  goTo: (id: string) => void;
  onDialog: (dialog: BoardDialog) => void;
  onSidebar: () => void;
  onProjector: () => void;
}

/** Shortcuts of the board; those of single cards are in BoardGrid. */
function useBoardKeys({ board, at, goTo, onDialog, onSidebar, onProjector }: BoardKeyHandlers): void {
  const digitsTyped = useRef({ digits: "", at: 0 });
  const number = (digit: string) => {
    const moment = serverNow();
    // "1" followed by "2" selects group 12, if it exists.
    const digits = moment - digitsTyped.current.at < 800 ? digitsTyped.current.digits + digit : digit;
    const card =
      board.groups.find((one) => one.group.groupNumber === Number(digits)) ??
      board.groups.find((one) => one.group.groupNumber === Number(digit));
    digitsTyped.current = { digits, at: moment };
    if (card) goTo(card.group.id);
  };
  const first = () => {
    onSidebar();
    requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-handled="0"]')?.focus());
  };
  useShortcuts({
    h: board.helpQueue.length > 0 ? first : undefined,
    n: () => {
      const target = nextInCycle(groupsNeedingTeacher(board, at), groupAt(document.activeElement));
      if (target !== undefined) goTo(target);
    },
    m: () => {
      const groupId = groupAt(document.activeElement);
      if (groupId !== undefined) onDialog({ what: "message", groupId });
    },
    b: onProjector,
    "/": () => document.querySelector<HTMLElement>("[aria-pressed=true]")?.focus(),
    ...Object.fromEntries([..."0123456789"].map((digit) => [digit, () => number(digit)])),
  });
}
