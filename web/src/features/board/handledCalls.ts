// Marks help requests as handled. The page hides the request at once and sends the update when the toast with "Undo" closes,
// because only the group itself could restore the request. Leaving the page sends it immediately.
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { getFamily, invalidate } from "../../api/queryKeys";
import { isPageAbandoned } from "../../auth/sessionEnd";
import { pageSchoolHeaders } from "../../auth/pageSchool";
import { toast } from "../../components/base/toast";
import { type Board, type BoardGroup } from "./board";
import { numberedName } from "../lesson/groupNames";

/** The toast is shown for eight seconds, longer while the pointer is on it; after this time the update is sent in any case. */
const MAX_DELAY_MS = 60_000;

/** Group ids of handled help requests, with the key of the request. */
export type HandledCalls = ReadonlyMap<string, string>;

let handledCalls: HandledCalls = new Map();
const timers = new Map<string, number>();
const listeners = new Set<() => void>();

function change(id: string, call: string | undefined): void {
  const next = new Map(handledCalls);
  if (call === undefined) next.delete(id);
  else next.set(id, call);
  handledCalls = next;
  for (const listener of listeners) listener();
}

/** Distinguishes one help request of a group from the next one. */
const callKey = (card: BoardGroup): string => `${card.helpRequestedAt ?? ""} ${card.helpMessage ?? ""}`;

/** The board without help requests marked as handled; a newer request of the same group stays. */
export function withoutHandledCalls(board: Board, handled: HandledCalls): Board {
  if (handled.size === 0) return board;
  const isHandled = (card: BoardGroup) => handled.get(card.group.id) === callKey(card);
  const gone = new Set(board.groups.filter(isHandled).map((card) => card.group.id));
  return {
    ...board,
    helpQueue: board.helpQueue.filter((id) => !gone.has(id)),
    groups: board.groups.map((card) =>
      gone.has(card.group.id)
        ? { ...card, needsHelp: false, helpRequestedAt: null, helpMessage: null, helpWithdrawnAt: null }
        : card,
    ),
  };
}

export const useHandledCalls = (): HandledCalls =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => handledCalls,
  );

function unmark(id: string): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

/** Marks a help request as handled, with eight seconds to undo; restores it and shows an error if the service rejects the update. */
export function useMarkHandled(): (card: BoardGroup) => void {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  return (card) => {
    const { id } = card.group;
    const name = numberedName(card.group);
    unmark(id);
    change(id, callKey(card));
    const finish = () => {
      if (!timers.has(id)) return;
      sendHandled(cache, card).catch((problem: unknown) => {
        change(id, undefined);
        toast(t("board.notHandled", { name, why: errorText(problem) }));
      });
    };
    const undo = () => {
      unmark(id);
      change(id, undefined);
    };
    timers.set(id, window.setTimeout(finish, MAX_DELAY_MS));
    toast(t("board.marked", { name }), undo, finish);
  };
}

async function sendHandled(cache: QueryClient, card: BoardGroup): Promise<void> {
  const { id } = card.group;
  unmark(id);
  const now = getFamily(cache, "board").flatMap((found) => found.groups.filter((one) => one.group.id === id));
  // The group has asked again meanwhile; that request is not handled.
  if (now.every((one) => callKey(one) === callKey(card))) {
    await client.POST("/groups/{id}/help/resolve", { params: { path: { id } }, body: {} });
    await invalidate(cache, "board");
  }
  change(id, undefined);
}

/** Sends pending updates with `keepalive`, so that they survive leaving the page. */
function sendAllHandled(): void {
  // Another user is signed in now, who must not be recorded as the handler.
  if (isPageAbandoned()) return;
  for (const id of timers.keys()) {
    unmark(id);
    void fetch(`/api/groups/${encodeURIComponent(id)}/help/resolve`, {
      method: "POST",
      keepalive: true,
      headers: { "content-type": "application/json", ...pageSchoolHeaders() },
      body: "{}",
    });
  }
}

if (typeof window !== "undefined") window.addEventListener("pagehide", sendAllHandled);
