// The realtime client. Events are hints: the queries they name are refetched; the query cache is the only state. Missed events
// are not replayed, so `ready` and `sync:required` refetch everything that is shown.
import type { QueryClient } from "@tanstack/react-query";
import { io, type Socket } from "socket.io-client";

import { type PresenceEvent, applyPresence } from "../features/board/applyPresence";
import { syncServerClock } from "../hooks/serverClock";
import { throttleInvalidation } from "./throttle";
import { familyKeys, queryKeys } from "./queryKeys";

export type ConnectionStatus = "connecting" | "live" | "offline";

type EventPayload = import("./staleQueries").EventPayload;

/** Delay of the first refetch in milliseconds; a page that was just opened has loaded its data by then. */
const FIRST_REFETCH_DELAY_MS = 2_000;

type EventListener = (event: string, hint: object) => boolean;
const eventListeners = new Set<EventListener>();

/**
 * Registers a listener that is called before the default handling and returns whether it has handled the event. Returns the
 * function that removes it.
 */
export function addEventListener(listener: EventListener): () => void {
  eventListeners.add(listener);
  return () => void eventListeners.delete(listener);
}

let openSocket: Socket | undefined;
let lastTypingSent = 0;

/** Emits that the user is typing in a document, at most every ten seconds. The service keeps this in memory only. */
export function emitTyping(documentId: string): void {
  if (openSocket?.connected !== true || Date.now() - lastTypingSent < 10_000) return;
  lastTypingSent = Date.now();
  openSocket.emit("document:activity", { documentId });
}

/** Connects to the realtime service and returns the function that disconnects. */
export function connectRealtime(
  cache: QueryClient,
  onStatus: (status: ConnectionStatus) => void,
  onRevoked: (reason: string | undefined) => void,
): () => void {
  const socket: Socket = io({ path: "/api/socket.io", withCredentials: true, transports: ["websocket", "polling"] });
  openSocket = socket;
  const refetch = () => void cache.invalidateQueries();
  const invalidateThrottled = throttleInvalidation(cache);
  let isFirst = true;
  let firstRefetch: ReturnType<typeof setTimeout> | undefined;
  socket.on("ready", () => {
    onStatus("live");
    // The page has just fetched its data, so the first refetch is delayed: slow devices are busy until then.
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
    // Presence events are frequent and complete, so they are written to the cached board directly.
    if (event === "board:activity") {
      if (!applyPresence(cache, hint as PresenceEvent)) familyKeys("board").forEach(invalidateThrottled);
      return;
    }
    if (event === "ready") return;
    if (hint && [...eventListeners].some((listener) => listener(event, hint))) return;
    // Import events carry the progress itself; no query returns it.
    if (event === "import:progress")
      cache.setQueryData(queryKeys.import.progress(), hint as { rows: number; done: number; isFinished: boolean });
    // Help requests are not throttled.
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
