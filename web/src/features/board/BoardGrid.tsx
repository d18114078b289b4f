import { useState } from "react";
import { useTranslation } from "react-i18next";

import { type BoardGroup, DENSE } from "./board";
import { BoardCard } from "./BoardCard";
import type { BoardDialog } from "./BoardDialogs";
import { useGroupActions } from "./useGroupActions";

interface Props {
  cards: readonly BoardGroup[];
  /** Number of groups of the topic, including filtered ones. */
  count: number;
  at: number;
  onDo: (dialog: BoardDialog) => void;
  onOpen: (id: string) => void;
}

/** Cards ordered by group number: one tab stop, arrow keys move between cards. */
export function BoardGrid({ cards, count, at, onDo, onOpen }: Props) {
  const { t } = useTranslation();
  const actions = useGroupActions(onDo, onOpen);
  const [stop, setStop] = useState<string>();
  const isDense = count > DENSE;
  const tabStop = cards.some((card) => card.group.id === stop) ? stop : cards[0]?.group.id;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys are pressed on the cards inside
    <ul
      aria-label={t("board.groups")}
      className={`grid gap-3 ${isDense ? "grid-cols-[repeat(auto-fill,minmax(11rem,1fr))]" : "grid-cols-[repeat(auto-fill,minmax(min(15rem,100%),1fr))]"}`}
      onFocus={(event) => setStop(groupAt(event.target))}
      onKeyDown={(event) => {
        const target = cardInDirection(event.currentTarget, event.target as Element, event.key);
        if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        target.focus();
      }}
    >
      {cards.map((card) => (
        <li key={card.group.id} data-group={card.group.id}>
          <BoardCard
            card={card}
            at={at}
            isTabStop={card.group.id === tabStop}
            isDense={isDense}
            actions={actions(card)}
            onOpen={() => onOpen(card.group.id)}
          />
        </li>
      ))}
    </ul>
  );
}

/** The id of the group whose card contains an element. */
export const groupAt = (element: Element | null): string | undefined =>
  element?.closest("[data-group]")?.getAttribute("data-group") ?? undefined;

/** Moves the focus to the card of a group, if it is shown. */
export function focusCard(id: string): boolean {
  const card = document.querySelector<HTMLElement>(`[data-look="${CSS.escape(id)}"]`);
  card?.focus();
  return card !== null;
}

/** Returns the card that an arrow key leads to; row length depends on the width of the window. */
function cardInDirection(grid: Element, here: Element, key: string): HTMLElement | undefined {
  const cards = [...grid.querySelectorAll<HTMLElement>("[data-look]")];
  const index = cards.indexOf(here as HTMLElement);
  if (index < 0) return undefined;
  const row = countColumns(cards);
  const candidates: Record<string, number> = {
    ArrowRight: index + 1,
    ArrowLeft: index - 1,
    ArrowDown: index + row,
    ArrowUp: index - row,
    Home: 0,
    End: cards.length - 1,
  };
  const target = candidates[key];
  return target === undefined ? undefined : cards[target];
}

/** Number of cards per row at the current width. */
function countColumns(cards: readonly HTMLElement[]): number {
  const top = (card: HTMLElement | undefined) => card?.closest("[data-group]")?.getBoundingClientRect().top;
  const first = top(cards[0]);
  const next = cards.findIndex((card) => top(card) !== first);
  return next < 0 ? cards.length : next;
}
