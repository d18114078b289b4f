// The realtime client. Events are hints: the queries they name are refetched; the query cache is the only state. Missed events
// are not replayed: the first `ready` names them, and after a new connection or `sync:required` everything that is shown is
// refetched.
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { io, type Socket } from "socket.io-client";

import { type PresenceEvent, applyPresence, applyRoomPresence } from "../features/board/applyPresence";
import { syncServerClock } from "../hooks/serverClock";
import { firstEventPosition } from "./client";
import { throttleInvalidation } from "./throttle";
import { familyKeys, queryKeys } from "./queryKeys";

export type ConnectionStatus = "connecting" | "live" | "offline";

type EventPayload = import("./staleQueries").EventPayload;

/**
 * Delay in milliseconds of the first refetch, where the service does not know the missed events; a page that was just opened
 * has loaded its data by then.
 */
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

type ConnectionListener = (isLive: boolean) => void;
const connectionListeners = new Set<ConnectionListener>();

/** Registers a listener for the beginning and the end of connections; it is called with the present state first. */
export function addConnectionListener(listener: ConnectionListener): () => void {
  connectionListeners.add(listener);
  listener(isReady);
  return () => void connectionListeners.delete(listener);
}

/** Emits an event of a client. It is dropped without a connection; a response calls `onAck`. */
export function emitToService(event: string, payload: object, onAck?: (response: unknown) => void): void {
  if (openSocket?.connected !== true) return;
  if (onAck === undefined) openSocket.emit(event, payload);
  else openSocket.emit(event, payload, onAck);
}

let isReady = false;
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
  let isFirst = true;
  const socket: Socket = io({
    path: "/api/socket.io",
    withCredentials: true,
    transports: ["websocket", "polling"],
    auth: (send) => send(isFirst ? { since: firstEventPosition() } : {}),
  });
  openSocket = socket;
  const refetch = () => void cache.invalidateQueries();
  const invalidateThrottled = throttleInvalidation(cache);
  const setReady = (next: boolean) => {
    isReady = next;
    for (const listener of connectionListeners) listener(next);
  };
  const invalidateNamed = (event: string, hint: EventPayload, invalidate: (queryKey: QueryKey) => void) =>
    void import("./staleQueries").then(({ staleQueries }) => staleQueries(event, hint).forEach(invalidate), refetch);
  let firstRefetch: ReturnType<typeof setTimeout> | undefined;
  socket.on("ready", ({ missed }: { missed?: readonly string[] | null } = {}) => {
    onStatus("live");
    setReady(true);
    if (!isFirst) refetch();
    else if (missed) for (const event of missed) invalidateNamed(event, {}, invalidateThrottled);
    else firstRefetch = setTimeout(refetch, FIRST_REFETCH_DELAY_MS);
    isFirst = false;
  });
  socket.on("sync:required", refetch);
  socket.on("session:revoked", (hint?: { reason?: string }) => onRevoked(hint?.reason));
  socket.on("disconnect", () => {
    onStatus("offline");
    setReady(false);
  });
  socket.on("connect_error", () => onStatus("offline"));
  socket.onAny((event: string, hint: EventPayload | undefined) => {
    if (hint?.at) syncServerClock(hint.at);
    // Presence events are frequent and complete, so they are written to the cached board and room directly.
    if (event === "group:presence") return applyRoomPresence(cache, hint as PresenceEvent);
    if (event === "board:activity") {
      applyRoomPresence(cache, hint as PresenceEvent);
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
    invalidateNamed(event, hint ?? {}, (queryKey) => {
      if (isUrgent) void cache.invalidateQueries({ queryKey });
      else invalidateThrottled(queryKey);
    });
  });
  return () => {
    openSocket = undefined;
    setReady(false);
    clearTimeout(firstRefetch);
    socket.disconnect();
  };
}
