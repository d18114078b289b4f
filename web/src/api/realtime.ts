// The live channel. Events are hints: what they name is asked for anew; the query cache is the only state. Nothing is
// replayed after a gap, so on `ready` and on `sync:required` everything that is shown is fetched again.
import type { QueryClient } from "@tanstack/react-query";
import { io, type Socket } from "socket.io-client";

import { type PresenceEvent, applyPresence } from "../features/board/applyPresence";
import { syncServerClock } from "../hooks/serverClock";
import { throttleInvalidation } from "./throttle";
import { familyKeys, queryKeys } from "./queryKeys";

export type ConnectionStatus = "connecting" | "live" | "offline";

type EventPayload = import("./staleQueries").EventPayload;

/** After so many milliseconds a page that was just opened shows what it asked for. */
const FIRST_REFETCH_DELAY_MS = 2_000;

type EventListener = (event: string, hint: object) => boolean;
const eventListeners = new Set<EventListener>();

/** What is shown hears first, and says whether that was all there is to do. Answers how to stop. */
export function addEventListener(listener: EventListener): () => void {
  eventListeners.add(listener);
  return () => void eventListeners.delete(listener);
}

let openSocket: Socket | undefined;
let lastTypingSent = 0;

/** Says that this person writes in a document, at most every ten seconds; kept in memory by the service, and nowhere else. */
export function emitTyping(documentId: string): void {
  if (openSocket?.connected !== true || Date.now() - lastTypingSent < 10_000) return;
  lastTypingSent = Date.now();
  openSocket.emit("document:activity", { documentId });
}

/** Joins the live channel; answers how to leave it. */
export function connectRealtime(cache: QueryClient, onStatus: (status: ConnectionStatus) => void, onRevoked: (reason: string | undefined) => void): () => void {
  const socket: Socket = io({ path: "/api/socket.io", withCredentials: true, transports: ["websocket", "polling"] });
  openSocket = socket;
  const refetch = () => void cache.invalidateQueries();
  const invalidateThrottled = throttleInvalidation(cache);
  let isFirst = true;
  let firstRefetch: ReturnType<typeof setTimeout> | undefined;
  socket.on("ready", () => {
    onStatus("live");
    // What the page has just asked for is asked again once it stands: a weak machine is busy enough until then.
    if (isFirst) firstRefetch = setTimeout(refetch, FIRST_REFETCH_DELAY_MS);
    else refetch();
    isFirst = false;
  });
  socket.on("sync:required", refetch);
  socket.on("session:revoked", (hint?: { reason?: string }) => onRevoked(hint?.reason));
  socket.on("disconnect", () => onStatus("offline"));
  socket.on("connect_error", () => onStatus("offline"));
  socket.onAny((event: string, hint: EventPayload | undefined) => {
    if (hint?.at) syncServerClock(hint.at);
    // Who is here and who writes comes often and whole: it is put into the board as it is.
    if (event === "board:activity") {
      if (!applyPresence(cache, hint as PresenceEvent)) familyKeys("board").forEach(invalidateThrottled);
      return;
    }
    if (event === "ready") return;
    if (hint && [...eventListeners].some((listener) => listener(event, hint))) return;
    // An import tells nothing that could be asked for: how far it is.
    if (event === "import:progress") cache.setQueryData(queryKeys.import.progress(), hint as { rows: number; done: number; isFinished: boolean });
    // A call for help does not wait for its turn.
    const isUrgent = event.startsWith("group:help");
    void import("./staleQueries").then(({ staleQueries }) => {
      for (const queryKey of staleQueries(event, hint ?? {})) {
        if (isUrgent) void cache.invalidateQueries({ queryKey });
        else invalidateThrottled(queryKey);
      }
    }, refetch);
  });
  return () => {
    openSocket = undefined;
    clearTimeout(firstRefetch);
    socket.disconnect();
  };
}
