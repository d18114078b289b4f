import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Footprints } from "lucide-react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { meQuery } from "../../auth/session";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { boardQuery, isHelpNeeded, type BoardGroup } from "./board";
import { useMarkHandled } from "./handledCalls";
import { WaitingTime } from "./indicators";
import { classNamesQuery } from "../lesson/classAndCourse";
import { numberedName } from "../lesson/groupNames";

/** The help queue: groups in order of arrival with waiting time and text; requests that are no longer needed are last. */
export function HelpQueue({
  waiting,
  isOver,
  onShow,
}: {
  waiting: readonly BoardGroup[];
  isOver: boolean;
  onShow: (id: string) => void;
}) {
  const { t } = useTranslation();
  const handle = useMarkHandled();
  const list = useRef<HTMLDivElement>(null);
  useFocusAfterRemoval(list, waiting.length);
  return (
    <div ref={list} tabIndex={-1} className="outline-none">
      {waiting.length === 0 ? <p className="text-soft">{isOver ? t("board.isOver") : t("board.nobodyWaits")}</p> : null}
      <ol className="flex flex-col gap-3">
        {waiting.map((card, index) => (
          <li
            key={card.group.id}
            className={`bg-page flex flex-col gap-2 rounded-lg border p-3 ${isHelpNeeded(card) ? "border-warn" : "border-faint"}`}
          >
            <span className="flex justify-between gap-2">
              <Link
                to="/topics/$topicId/work/$groupId"
                params={{ topicId: card.groupAssignment.assignmentId, groupId: card.group.id }}
                onClick={() => onShow(card.group.id)}
                className="min-w-0 font-semibold break-words"
              >
                {numberedName(card.group)}
              </Link>
              {card.helpRequestedAt && isHelpNeeded(card) ? <WaitingTime moment={card.helpRequestedAt} /> : null}
            </span>
            {isHelpNeeded(card) ? null : <span className="text-soft text-sm">{t("board.noLongerNeeded")}</span>}
            {card.helpMessage ? <q className="break-words">{card.helpMessage}</q> : null}
            <span className="flex flex-wrap items-center gap-2">
              <Button
                kind="main"
                data-handled={index}
                aria-label={t("board.handledOf", { name: numberedName(card.group) })}
                onPress={() => handle(card)}
              >
                {t("board.handled")}
              </Button>
              <ClaimButton card={card} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** When the focused help request disappears, moves the focus to the next one, or to the list. */
function useFocusAfterRemoval(list: React.RefObject<HTMLDivElement | null>, count: number): void {
  const last = useRef(count);
  const focusedIndex = useRef(-1);
  useEffect(() => {
    const element = list.current;
    const saveFocus = (event: FocusEvent) => {
      focusedIndex.current = Number(
        (event.target as HTMLElement).closest("[data-handled]")?.getAttribute("data-handled") ?? -1,
      );
    };
    const clearFocus = (event: FocusEvent) => {
      if (event.relatedTarget !== null) focusedIndex.current = -1;
    };
    element?.addEventListener("focusin", saveFocus);
    element?.addEventListener("focusout", clearFocus);
    return () => {
      element?.removeEventListener("focusin", saveFocus);
      element?.removeEventListener("focusout", clearFocus);
    };
  }, [list]);
  useEffect(() => {
    if (
      count < last.current &&
      focusedIndex.current >= 0 &&
      (document.activeElement === document.body || document.activeElement === null)
    ) {
      const buttons = [...(list.current?.querySelectorAll<HTMLElement>("[data-handled]") ?? [])];
      (buttons[Math.min(focusedIndex.current, buttons.length - 1)] ?? list.current)?.focus();
    }
    last.current = count;
  }, [list, count]);
}

/** Claims a help request ("I'm going"), so that two teachers do not both go; shows who has claimed it. */
function ClaimButton({ card }: { card: BoardGroup }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const { data: person } = useQuery(meQuery);
  const by = card.group.helpClaimedById ?? null;
  const names = useQuery({ ...classNamesQuery(card.group.classId), enabled: by !== null && by !== person?.id }).data
    ?.teachers;
  const claim = useMutation({
    mutationFn: () => client.POST("/groups/{id}/help/claim", { params: { path: { id: card.group.id } } }),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => cache.invalidateQueries({ queryKey: boardQuery(card.groupAssignment.assignmentId).queryKey }),
  });
  if (by === null) {
    return (
      <Button
        aria-label={t("board.goOf", { name: numberedName(card.group) })}
        onPress={() => claim.mutate()}
        isPending={claim.isPending}
      >
        {t("board.go")}
      </Button>
    );
  }
  return (
    <span className="text-soft flex items-center gap-1 text-sm">
      <Footprints aria-hidden="true" className="size-4 shrink-0" />
      {by === person?.id ? t("board.youGo") : t("board.goes", { name: names?.get(by) ?? t("board.colleague") })}
    </span>
  );
}
