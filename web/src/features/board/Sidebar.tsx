import { useTranslation } from "react-i18next";

import { ChevronDown, ChevronUp, Hand } from "../../components/base/icons";
import { type Board, helpQueue } from "./board";
import { RecentActivity } from "./RecentActivity";
import { WaitingTime } from "./indicators";
import { HelpQueue } from "./HelpQueue";
import { numberedName } from "../lesson/groupNames";

interface Props {
  board: Board;
  isOver: boolean;
  /** On narrow screens the sidebar is a bottom sheet that can be opened. */
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  onShow: (id: string) => void;
}

/** Sidebar of the board: help queue and recent activity. It has its own column, so that it never moves the cards. */
export function Sidebar({ board, isOver, isOpen, onOpen, onShow }: Props) {
  const { t } = useTranslation();
  const waiting = helpQueue(board);
  const first = waiting[0];
  const Chevron = isOpen ? ChevronDown : ChevronUp;
  return (
    <aside
      aria-label={t("board.waiting")}
      className="bg-sheet border-line fixed inset-x-0 bottom-0 z-10 flex max-h-[75dvh] flex-col rounded-t-2xl border-t shadow-[0_-4px_16px_rgb(0_0_0/0.15)] lg:border-faint lg:sticky lg:top-[calc(var(--header-height)+0.75rem)] lg:z-0 lg:max-h-[calc(100dvh-var(--header-height)-1.75rem)] lg:self-start lg:rounded-xl lg:border lg:shadow-none"
    >
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls="rail"
        onClick={() => onOpen(!isOpen)}
        className="flex min-h-12 cursor-pointer items-center gap-2 px-4 text-start font-semibold lg:hidden"
      >
        <Title count={waiting.length} />
        {first && !isOpen ? (
          <span className="text-soft min-w-0 grow truncate text-end font-normal">
            {numberedName(first.group)} {first.helpRequestedAt ? <WaitingTime moment={first.helpRequestedAt} /> : null}
          </span>
        ) : (
          <span className="grow" />
        )}
        <Chevron aria-hidden="true" className="size-5 shrink-0" />
      </button>
      <section
        id="rail"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls by itself, so it must be focusable
        tabIndex={0}
        aria-label={t("board.rail")}
        className={`flex-col gap-4 overflow-y-auto rounded-xl p-4 pt-1 lg:flex lg:pt-4 ${isOpen ? "flex" : "hidden"}`}
      >
        <section aria-label={t("board.waiting")} className="flex flex-col gap-3">
          <h2 className="hidden items-center gap-2 text-base lg:flex">
            <Title count={waiting.length} />
          </h2>
          <HelpQueue waiting={waiting} isOver={isOver} onShow={onShow} />
        </section>
        <section aria-label={t("board.justNow")} className="border-faint flex flex-col gap-2 border-t pt-3">
          <h2 className="text-base">{t("board.justNow")}</h2>
          <RecentActivity board={board} />
        </section>
      </section>
    </aside>
  );
}

function Title({ count }: { count: number }) {
  const { t } = useTranslation();
  return (
    <span className="flex shrink-0 items-center gap-2">
      <Hand aria-hidden="true" className={`size-5 ${count > 0 ? "text-warn" : "text-soft"}`} />
      {t("board.waiting")}
      <span className="tabular-nums">{count}</span>
    </span>
  );
}
