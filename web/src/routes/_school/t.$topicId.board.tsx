import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { Lock } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { board, type Board, type Filter, FILTERS, isDone, passes } from "../../board/board";
import { Card } from "../../board/Card";
import { Finish } from "../../board/Finish";
import { HelpRail } from "../../board/HelpRail";
import { useNow } from "../../lib/clock";
import { Button } from "../../ui/Button";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";
import { TimeLeft } from "../../ui/TimeLeft";

export const Route = createFileRoute("/_school/t/$topicId/board")({
  validateSearch: (search: Record<string, unknown>): { show?: Filter } => {
    const show = FILTERS.find((filter) => filter === search.show);
    return show === undefined || show === "all" ? {} : { show };
  },
  component: LessonBoard,
});

/** S7: who works, who waits for help, how much time is left: read in two seconds, from across the room. */
function LessonBoard() {
  const { topicId } = Route.useParams();
  const found = useQuery(board(topicId));
  if (found.isPending) return <Shape count={8} />;
  if (!found.data) return <Problems problem={found.error} again={() => void found.refetch()} />;
  return <Lesson found={found.data} />;
}

function Lesson({ found }: { found: Board }) {
  const { t } = useTranslation();
  const at = useNow();
  const { show = "all" } = Route.useSearch();
  const navigate = Route.useNavigate();
  const cards = found.groups.filter((card) => passes(card, show, at));
  const grid = useRef<HTMLUListElement>(null);
  const [stop, setStop] = useState(0);
  useKeys(grid, setStop);
  const isOver = found.assignment.status === "FINISHED";
  return (
    <div className="grid gap-4 lg:grid-cols-[1fr_18rem]">
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
          <Heading title={found.assignment.title}>{found.assignment.title}</Heading>
          {isOver ? <span><Lock aria-hidden="true" className="inline size-4" /> {t("state.FINISHED")}</span> : <TimeLeft until={found.assignment.deadline} />}
          <span>{t("today.submitted", { done: found.groups.filter(isDone).length, count: found.groups.length })}</span>
        </div>
        <div className="flex flex-wrap gap-2">
          <fieldset aria-label={t("board.show")} className="flex flex-wrap gap-2">
            {FILTERS.map((filter) => (
              <Button
                key={filter}
                aria-pressed={show === filter}
                className={show === filter ? "border-accent border-2" : ""}
                onPress={() => void navigate({ search: filter === "all" ? {} : { show: filter }, replace: true })}
              >
                {t(`board.filter.${filter}`)} {found.groups.filter((card) => passes(card, filter, at)).length}
              </Button>
            ))}
          </fieldset>
          <Finish found={found} />
        </div>
        {found.groups.length === 0 ? <p>{t("board.none")}</p> : null}
        <ul ref={grid} className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
          {cards.map((card, index) => (
            <li key={card.group.id}>
              <Card card={card} at={at} isTabStop={index === Math.min(stop, cards.length - 1)} />
            </li>
          ))}
        </ul>
      </div>
      <HelpRail found={found} at={at} isOver={isOver} />
    </div>
  );
}

const all = (grid: HTMLElement | null): HTMLElement[] => [...(grid?.querySelectorAll<HTMLElement>("[data-card]") ?? [])];

/** `h` goes to the first who waits, a digit to a card, arrows from card to card; silent while somebody types. */
function useKeys(grid: React.RefObject<HTMLUListElement | null>, onStop: (index: number) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu]")) return;
      const cards = all(grid.current);
      const here = cards.indexOf(target);
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(cards), ArrowUp: -columns(cards) }[event.key];
      let goal: HTMLElement | null | undefined;
      if (event.key === "h") goal = document.querySelector<HTMLElement>('[data-handled="0"]');
      else if (/^[1-9]$/.test(event.key)) goal = cards[Number(event.key) - 1];
      else if (step !== undefined && here >= 0) goal = cards[here + step];
      if (goal) {
        event.preventDefault();
        goal.focus();
      }
    };
    // The card that had the focus last is the one that Tab comes back to.
    const onFocus = (event: FocusEvent) => {
      const index = all(grid.current).indexOf(event.target as HTMLElement);
      if (index >= 0) onStop(index);
    };
    document.addEventListener("keydown", onKey);
    document.addEventListener("focusin", onFocus);
    return () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("focusin", onFocus);
    };
  }, [grid, onStop]);
}

/** How many cards stand beside each other at this width. */
function columns(cards: HTMLElement[]): number {
  const top = cards[0]?.offsetTop;
  return Math.max(1, cards.findIndex((card) => card.offsetTop !== top));
}
