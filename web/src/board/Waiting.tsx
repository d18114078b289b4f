import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Footprints } from "lucide-react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../api/client";
import { useSay } from "../lib/problems";
import { me } from "../lib/session";
import { Button } from "../ui/Button";
import { note } from "../ui/notes";
import { board, type BoardGroup, called } from "./board";
import { useHandle } from "./handled";
import { Since } from "./Marks";
import { classOf } from "./place";

/** Who waits for help, numbered, with the time they wait and their words. First come, first helped. */
export function Waiting({ waiting, isOver, onLook }: { waiting: readonly BoardGroup[]; isOver: boolean; onLook: (id: string) => void }) {
  const { t } = useTranslation();
  const handle = useHandle();
  const list = useRef<HTMLDivElement>(null);
  useNeighbour(list, waiting.length);
  return (
    <div ref={list} tabIndex={-1} className="outline-none">
      {waiting.length === 0 ? <p className="text-soft">{isOver ? t("board.isOver") : t("board.nobodyWaits")}</p> : null}
      <ol className="flex flex-col gap-3">
        {waiting.map((card, index) => (
          <li key={card.group.id} className="bg-page border-warn flex flex-col gap-2 rounded-lg border p-3">
            <span className="flex justify-between gap-2">
              <Link
                to="/t/$topicId/work/$groupId"
                params={{ topicId: card.groupAssignment.assignmentId, groupId: card.group.id }}
                onClick={() => onLook(card.group.id)}
                className="min-w-0 font-semibold break-words"
              >
                {called(card.group)}
              </Link>
              {card.helpRequestedAt ? <Since moment={card.helpRequestedAt} /> : null}
            </span>
            {card.helpMessage ? <q className="break-words">{card.helpMessage}</q> : null}
            <span className="flex flex-wrap items-center gap-2">
              <Button kind="main" data-handled={index} aria-label={t("board.handledOf", { name: called(card.group) })} onPress={() => handle(card)}>
                {t("board.handled")}
              </Button>
              <Claim card={card} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** When a call that had the focus is gone, the focus goes to the next one, else to the list. */
function useNeighbour(list: React.RefObject<HTMLDivElement | null>, count: number): void {
  const last = useRef(count);
  const place = useRef(-1);
  useEffect(() => {
    const element = list.current;
    const remember = (event: FocusEvent) => {
      place.current = Number((event.target as HTMLElement).closest("[data-handled]")?.getAttribute("data-handled") ?? -1);
    };
    const forget = (event: FocusEvent) => {
      if (event.relatedTarget !== null) place.current = -1;
    };
    element?.addEventListener("focusin", remember);
    element?.addEventListener("focusout", forget);
    return () => {
      element?.removeEventListener("focusin", remember);
      element?.removeEventListener("focusout", forget);
    };
  }, [list]);
  useEffect(() => {
    if (count < last.current && place.current >= 0 && (document.activeElement === document.body || document.activeElement === null)) {
      const buttons = [...(list.current?.querySelectorAll<HTMLElement>("[data-handled]") ?? [])];
      (buttons[Math.min(place.current, buttons.length - 1)] ?? list.current)?.focus();
    }
    last.current = count;
  }, [list, count]);
}

/** "I'm going", so that two teachers do not both go; and who goes already. */
function Claim({ card }: { card: BoardGroup }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const { data: person } = useQuery(me);
  const by = card.group.helpClaimedById ?? null;
  const names = useQuery({ ...classOf(card.group.classId), enabled: by !== null && by !== person?.id }).data?.teachers;
  const claim = useMutation({
    mutationFn: () => client.POST("/groups/{id}/help/claim", { params: { path: { id: card.group.id } } }),
    onError: (problem) => note(say(problem)),
    onSettled: () => cache.invalidateQueries({ queryKey: board(card.groupAssignment.assignmentId).queryKey }),
  });
  if (by === null) {
    return (
      <Button aria-label={t("board.goOf", { name: called(card.group) })} onPress={() => claim.mutate()} isPending={claim.isPending}>
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
