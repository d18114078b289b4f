// What an event makes stale. Fetched with the first event: the first load of a page does not pay for it.
import type { QueryKey } from "@tanstack/react-query";

import { families, queryKeys } from "./queryKeys";

export interface Hint {
  at?: string;
  action?: string;
  groupId?: string;
  assignmentId?: string;
  workRoomId?: string;
  documentId?: string;
  document?: { id: string };
}

/** All queries of people but that of a single person. */
const LISTS_OF_USERS: QueryKey[] = ["list", "named", "found", "unseen", "everybody", "staff", "addressees"].map((list) => ["users", list]);

/** What an event makes stale. A key is the beginning of the keys of queries. */
export function stale(event: string, hint: Hint): QueryKey[] {
  const board = hint.assignmentId ? [queryKeys.board.one(hint.assignmentId)] : families("board");
  const document = hint.documentId ?? hint.document?.id ?? "";
  const noun = event.split(":")[0];
  switch (noun) {
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
      // The own read marker of a chat: its messages do not change.
      if (event === "message:read") return families("room", "groups");
      return [queryKeys.chat.one(hint.workRoomId ?? ""), ...families("room", "groups"), ...board];
    case "direct":
      return families("messages");
    case "class":
      // Who loses a class may have its board, a room or hand-ins on the screen.
      return families("classes", "groups", "courses", "assignments", ...(event === "class:updated" ? [] : (["board", "room", "submissions"] as const)));
    case "subject":
      return families("subjects", "classes", "courses", "groups");
    case "homeroom":
      return families("homerooms", "classes");
    case "user":
      // The names of people are on most screens. Who was removed is not fetched again: a page that shows the person leaves it.
      return [...(hint.action === "DELETED" ? LISTS_OF_USERS : families("users")), ...families("me", "classes", "groups", "homerooms", "room", "board", "tenants")];
    case "organization":
      return families("admin", "me");
    default:
      return [];
  }
}
