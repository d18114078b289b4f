// The live channel. Events are hints: what they name is asked for anew; the query cache is the only state. Nothing is
// replayed after a gap, so on `ready` and on `sync:required` everything that is shown is fetched again.
import type { QueryClient } from "@tanstack/react-query";
import { io, type Socket } from "socket.io-client";

import { type PresenceEvent, applyPresence } from "../features/board/applyPresence";
import { serverSaid } from "./clock";
import { gently } from "./gently";
import { families, queryKeys } from "./queryKeys";

export type Line = "connecting" | "live" | "offline";

type Hint = import("./stale").Hint;

/** After so many milliseconds a page that was just opened shows what it asked for. */
const SETTLED = 2_000;

type Ear = (event: string, hint: object) => boolean;
const ears = new Set<Ear>();

/** What is shown hears first, and says whether that was all there is to do. Answers how to stop. */
export function hearFirst(ear: Ear): () => void {
  ears.add(ear);
  return () => void ears.delete(ear);
}

let open: Socket | undefined;
let told = 0;

/** Says that this person writes in a document, at most every ten seconds; kept in memory by the service, and nowhere else. */
export function tellWriting(documentId: string): void {
  if (open?.connected !== true || Date.now() - told < 10_000) return;
  told = Date.now();
  open.emit("document:activity", { documentId });
}

/** Joins the live channel; answers how to leave it. */
export function goLive(cache: QueryClient, onLine: (line: Line) => void, onRevoked: (reason: string | undefined) => void): () => void {
  const socket: Socket = io({ path: "/api/socket.io", withCredentials: true, transports: ["websocket", "polling"] });
  open = socket;
  const refetch = () => void cache.invalidateQueries();
  const ask = gently(cache);
  let isFirst = true;
  let settled: ReturnType<typeof setTimeout> | undefined;
  socket.on("ready", () => {
    onLine("live");
    // What the page has just asked for is asked again once it stands: a weak machine is busy enough until then.
    if (isFirst) settled = setTimeout(refetch, SETTLED);
    else refetch();
    isFirst = false;
  });
  socket.on("sync:required", refetch);
  socket.on("session:revoked", (hint?: { reason?: string }) => onRevoked(hint?.reason));
  socket.on("disconnect", () => onLine("offline"));
  socket.on("connect_error", () => onLine("offline"));
  socket.onAny((event: string, hint: Hint | undefined) => {
    if (hint?.at) serverSaid(hint.at);
    // Who is here and who writes comes often and whole: it is put into the board as it is.
    if (event === "board:activity") {
      if (!applyPresence(cache, hint as PresenceEvent)) families("board").forEach(ask);
      return;
    }
    if (event === "ready") return;
    if (hint && [...ears].some((ear) => ear(event, hint))) return;
    // An import tells nothing that could be asked for: how far it is.
    if (event === "import:progress") cache.setQueryData(queryKeys.import.progress(), hint as { rows: number; done: number; isFinished: boolean });
    // A call for help does not wait for its turn.
    const isUrgent = event.startsWith("group:help");
    void import("./stale").then(({ stale }) => {
      for (const queryKey of stale(event, hint ?? {})) {
        if (isUrgent) void cache.invalidateQueries({ queryKey });
        else ask(queryKey);
      }
    }, refetch);
  });
  return () => {
    open = undefined;
    clearTimeout(settled);
    socket.disconnect();
  };
}
