// The live channel. Events are hints: what they name is asked for anew; the query cache is the only state. Nothing is
// replayed after a gap, so on `ready` and on `sync:required` everything that is shown is fetched again.
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { io, type Socket } from "socket.io-client";

import { type Stir, stir } from "../board/stir";
import { serverSaid } from "./clock";
import { gently } from "./gently";
import { families, queryKeys } from "./queryKeys";

export type Line = "connecting" | "live" | "offline";

interface Hint {
  at?: string;
  groupId?: string;
  assignmentId?: string;
  workRoomId?: string;
  documentId?: string;
  document?: { id: string };
}

/** What an event makes stale. A key is the beginning of the keys of queries. */
function stale(event: string, hint: Hint): QueryKey[] {
  const board = hint.assignmentId ? [queryKeys.board.one(hint.assignmentId)] : families("board");
  const document = hint.documentId ?? hint.document?.id ?? "";
  const noun = event.split(":")[0];
  switch (noun) {
    case "board":
      return families("board");
    case "group":
      // Lists of courses and classes do not say who waits, and a call is heard by every board of the school's staff.
      if (event.startsWith("group:help")) return [...families("groups", "room"), queryKeys.courses.one(), ...board];
      return [...families("groups", "courses", "classes", "room"), ...board];
    case "assignment":
    case "course":
      return [...families("assignments", "courses", "classes", "groups", "room"), ...board];
    case "document":
      // With its status the content of a hand-in is complete.
      return [...families("room", ...(event === "document:status" ? (["submissions"] as const) : [])), queryKeys.document.versions(document), queryKeys.document.editor(document), ...board];
    case "submission":
    case "grade":
    case "feedback":
      return [...families("assignments", "groups", "room", "submissions", "feedback"), ...board];
    case "message":
      // One's own mark in a chat: what was said is as it was.
      if (event === "message:read") return families("room", "groups");
      return [queryKeys.chat.one(hint.workRoomId ?? ""), ...families("room", "groups"), ...board];
    case "direct":
      return families("messages");
    case "class":
      return families("classes", "groups", "courses", "assignments");
    default:
      return [];
  }
}

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
    if (event === "board:activity" && stir(cache, hint as Stir)) return;
    if (hint && [...ears].some((ear) => ear(event, hint))) return;
    // An import tells nothing that could be asked for: how far it is.
    if (event === "import:progress") cache.setQueryData(queryKeys.import.progress(), hint as { rows: number; done: number; isFinished: boolean });
    // A call for help does not wait for its turn.
    const isUrgent = event.startsWith("group:help");
    for (const queryKey of stale(event, hint ?? {})) {
      if (isUrgent) void cache.invalidateQueries({ queryKey });
      else ask(queryKey);
    }
  });
  return () => {
    open = undefined;
    clearTimeout(settled);
    socket.disconnect();
  };
}
