// What an event makes stale. Fetched with the first event: the first load of a page does not pay for it.
import type { QueryKey } from "@tanstack/react-query";

import { familyKeys, queryKeys } from "./queryKeys";

export interface EventPayload {
  at?: string;
  action?: string;
  groupId?: string;
  assignmentId?: string;
  workRoomId?: string;
  documentId?: string;
  document?: { id: string };
}

/** All queries of people but that of a single person. */
const USER_LIST_KEYS: QueryKey[] = ["list", "named", "found", "unseen", "everybody", "staff", "addressees"].map((list) => ["users", list]);

/** What an event makes stale. A key is the beginning of the keys of queries. */
export function staleQueries(event: string, payload: EventPayload): QueryKey[] {
  const board = payload.assignmentId ? [queryKeys.board.one(payload.assignmentId)] : familyKeys("board");
  const document = payload.documentId ?? payload.document?.id ?? "";
  const noun = event.split(":")[0];
  switch (noun) {
    case "group":
      // Lists of courses and classes do not say who waits, and a call is heard by every board of the school's staff.
      if (event.startsWith("group:help")) return [...familyKeys("groups", "room"), queryKeys.courses.one(), ...board];
      return [...familyKeys("groups", "courses", "classes", "room"), ...board];
    case "assignment":
    case "course":
      return [...familyKeys("assignments", "courses", "classes", "groups", "room"), ...board];
    case "document":
      // With its status the content of a hand-in is complete.
      return [...familyKeys("room", ...(event === "document:status" ? (["submissions"] as const) : [])), queryKeys.document.versions(document), queryKeys.document.editor(document), ...board];
    case "submission":
    case "grade":
    case "feedback":
      return [...familyKeys("assignments", "groups", "room", "submissions", "feedback"), ...board];
    case "message":
      // The own read marker of a chat: its messages do not change.
      if (event === "message:read") return familyKeys("room", "groups");
      return [queryKeys.chat.one(payload.workRoomId ?? ""), ...familyKeys("room", "groups"), ...board];
    case "direct":
      return familyKeys("messages");
    case "class":
      // Who loses a class may have its board, a room or hand-ins on the screen.
      return familyKeys("classes", "groups", "courses", "assignments", ...(event === "class:updated" ? [] : (["board", "room", "submissions"] as const)));
    case "subject":
      return familyKeys("subjects", "classes", "courses", "groups");
    case "homeroom":
      return familyKeys("homerooms", "classes");
    case "user":
      // The names of people are on most screens. Who was removed is not fetched again: a page that shows the person leaves it.
      return [...(payload.action === "DELETED" ? USER_LIST_KEYS : familyKeys("users")), ...familyKeys("me", "classes", "groups", "homerooms", "room", "board", "tenants")];
    case "organization":
      return familyKeys("admin", "me");
    default:
      return [];
  }
}
