import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hand } from "lucide-react";
import { useTranslation } from "react-i18next";

import { client } from "../api/client";
import { minutes } from "../lib/clock";
import { Button } from "../ui/Button";
import { Problems } from "../ui/Problems";
import { type Board, board, type BoardGroup, nameOf, queue } from "./board";

/** Who waits for help, numbered, with the time they wait and their words. First come, first helped. */
export function HelpRail({ found, at, isOver }: { found: Board; at: number; isOver: boolean }) {
  const { t } = useTranslation();
  const waiting = queue(found);
  const handle = useHandled(found.assignment.id);
  return (
    <aside aria-label={t("board.waiting")} className="flex flex-col gap-3">
      <h2>
        <Hand aria-hidden="true" className="inline size-5" />{" "}
        {t("board.waiting")} <span className="tabular-nums">{waiting.length}</span>
      </h2>
      {handle.isError ? <Problems problem={handle.error} /> : null}
      {waiting.length === 0 ? <p className="text-soft">{isOver ? t("board.isOver") : t("board.nobodyWaits")}</p> : null}
      <ol className="flex flex-col gap-3">
        {waiting.map((card, index) => (
          <li key={card.group.id} className="bg-sheet border-warn flex flex-col gap-2 rounded-xl border p-3">
            <span className="flex justify-between gap-2">
              <strong>
                {index + 1}. {nameOf(card.group)}
              </strong>
              <span className="tabular-nums">{card.helpRequestedAt ? minutes(at - Date.parse(card.helpRequestedAt)) : ""}</span>
            </span>
            {card.helpMessage ? <q>{card.helpMessage}</q> : null}
            <span className="flex flex-wrap gap-2">
              <Link to="/g/$groupId" params={{ groupId: card.group.id }} className="border-line inline-flex min-h-11 items-center rounded-lg border px-4">
                {t("board.goThere")}
              </Link>
              <Button kind="main" data-handled={index} onPress={() => handle.mutate(card)}>
                {t("board.handled")}
              </Button>
            </span>
          </li>
        ))}
      </ol>
    </aside>
  );
}

/** Takes the flag down at once and puts it up again when the service says no. */
function useHandled(topic: string) {
  const cache = useQueryClient();
  const { queryKey } = board(topic);
  return useMutation({
    mutationFn: (card: BoardGroup) => client.POST("/groups/{id}/help/resolve", { params: { path: { id: card.group.id } }, body: {} }),
    onMutate: async (card) => {
      await cache.cancelQueries({ queryKey });
      const before = cache.getQueryData(queryKey);
      cache.setQueryData(queryKey, (found) =>
        found && {
          ...found,
          helpQueue: found.helpQueue.filter((id) => id !== card.group.id),
          groups: found.groups.map((one) => (one.group.id === card.group.id ? { ...one, needsHelp: false, helpRequestedAt: null, helpMessage: null } : one)),
        },
      );
      return { before };
    },
    onError: (_problem, _card, kept) => cache.setQueryData(queryKey, kept?.before),
    onSettled: () => cache.invalidateQueries({ queryKey }),
  });
}
