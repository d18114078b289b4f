// Marking a call for help as handled. The flag goes down here at once; the service is told when the note with "Undo"
// is gone, because nobody but the group itself could raise the flag again. Leaving the page tells it at once.
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../api/client";
import { useSay } from "../lib/problems";
import { allOf, invalidate } from "../lib/queryKeys";
import { isPageAbandoned } from "../lib/sessionEnd";
import { shownHeaders } from "../lib/shownSchool";
import { note } from "../ui/notes";
import { type Board, type BoardGroup, called } from "./board";

/** The note with "Undo" stands for eight seconds, longer under a pointer; after this it is told in any case. */
const LONGEST = 60_000;

/** The calls that are marked, each by its group, with the words it had. */
export type Marked = ReadonlyMap<string, string>;

let marked: Marked = new Map();
const timers = new Map<string, number>();
const listeners = new Set<() => void>();

function change(id: string, call: string | undefined): void {
  const next = new Map(marked);
  if (call === undefined) next.delete(id);
  else next.set(id, call);
  marked = next;
  for (const listener of listeners) listener();
}

/** What tells one call of a group from the next one. */
const callOf = (card: BoardGroup): string => `${card.helpRequestedAt ?? ""} ${card.helpMessage ?? ""}`;

/** The board without the flags that are marked; a group that has asked anew since stays. */
export function without(found: Board, handled: Marked): Board {
  if (handled.size === 0) return found;
  const isHandled = (card: BoardGroup) => handled.get(card.group.id) === callOf(card);
  const gone = new Set(found.groups.filter(isHandled).map((card) => card.group.id));
  return {
    ...found,
    helpQueue: found.helpQueue.filter((id) => !gone.has(id)),
    groups: found.groups.map((card) => (gone.has(card.group.id) ? { ...card, needsHelp: false, helpRequestedAt: null, helpMessage: null } : card)),
  };
}

export const useMarked = (): Marked =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => marked,
  );

function forget(id: string): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

/** Marks a call as handled, with eight seconds to take that back; a refusal puts the flag up again and says so. */
export function useHandle(): (card: BoardGroup) => void {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  return (card) => {
    const { id } = card.group;
    const name = called(card.group);
    forget(id);
    change(id, callOf(card));
    const done = () => {
      if (!timers.has(id)) return;
      tell(cache, card).catch((problem: unknown) => {
        change(id, undefined);
        note(t("board.notHandled", { name, why: say(problem) }));
      });
    };
    const undo = () => {
      forget(id);
      change(id, undefined);
    };
    timers.set(id, window.setTimeout(done, LONGEST));
    note(t("board.marked", { name }), undo, done);
  };
}

async function tell(cache: QueryClient, card: BoardGroup): Promise<void> {
  const { id } = card.group;
  forget(id);
  const now = allOf(cache, "board").flatMap((found) => found.groups.filter((one) => one.group.id === id));
  // Asked anew in the meantime: that call nobody has handled.
  if (now.every((one) => callOf(one) === callOf(card))) {
    await client.POST("/groups/{id}/help/resolve", { params: { path: { id } }, body: {} });
    await invalidate(cache, "board");
  }
  change(id, undefined);
}

/** Tells the service what is still unsaid, in a way that outlives the page. */
function tellAll(): void {
  // Another person is signed in now, and would be the one who handled it.
  if (isPageAbandoned()) return;
  for (const id of timers.keys()) {
    forget(id);
    void fetch(`/api/groups/${encodeURIComponent(id)}/help/resolve`, { method: "POST", keepalive: true, headers: { "content-type": "application/json", ...shownHeaders() }, body: "{}" });
  }
}

if (typeof window !== "undefined") window.addEventListener("pagehide", tellAll);
