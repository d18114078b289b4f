// Maps events to the queries they invalidate. Loaded with the first event, so the first load of a page does not include it.
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

/** All user lists, but not single users. */
const { users } = queryKeys;
const USER_LIST_KEYS = [
  users.list(),
  users.named(),
  users.found(),
  users.unseen(),
  users.everybody(),
  users.staff(),
  users.addressees(),
];

/** The keys to invalidate for an event; each is a prefix of query keys. */
export function staleQueries(event: string, payload: EventPayload): QueryKey[] {
  const board = payload.assignmentId ? [queryKeys.board.one(payload.assignmentId)] : familyKeys("board");
  const document = payload.documentId ?? payload.document?.id ?? "";
  const noun = event.split(":")[0];
  switch (noun) {
    case "group":
      // Lists of courses and classes do not contain help requests, and every board of the school's staff receives the event.
      if (event.startsWith("group:help")) return [...familyKeys("groups", "room"), queryKeys.courses.one(), ...board];
      return [...familyKeys("groups", "courses", "classes", "room", "deletions"), ...board];
    // The group sees who is on the way.
    case "help":
      return familyKeys("room");
    case "assignment":
    case "course":
      return [...familyKeys("assignments", "courses", "classes", "groups", "room", "deletions"), ...board];
    case "document":
      // The lists of documents and the boards count unread comments.
      if (event === "document:comments") return [queryKeys.document.comments(document), ...familyKeys("room", "board")];
      // With its status, the content of a submission is final.
      return [
        ...familyKeys("room", ...(event === "document:status" ? (["submissions"] as const) : [])),
        // Who may comment depends on the status.
        ...(event === "document:status" ? [queryKeys.document.comments(document)] : []),
        queryKeys.document.versions(document),
        queryKeys.document.editor(document),
        ...board,
      ];
    case "submission":
    case "grade":
    case "feedback":
      return [...familyKeys("assignments", "groups", "room", "submissions", "feedback"), ...board];
    case "message":
      // The user's own read marker of a chat: messages do not change.
      if (event === "message:read") return familyKeys("room", "groups");
      return [
        ...(payload.workRoomId ? [queryKeys.chat.one(payload.workRoomId)] : familyKeys("chat")),
        ...familyKeys("room", "groups"),
        ...board,
      ];
    case "direct":
      return familyKeys("messages");
    case "class":
      // A user who loses a class may have its board, a work room or submissions open.
      return familyKeys(
        "classes",
        "groups",
        "courses",
        "assignments",
        ...(event === "class:updated" ? [] : (["board", "room", "submissions"] as const)),
      );
    case "rubric":
      return familyKeys("rubrics");
    case "snippets":
      return familyKeys("snippets");
    case "subject":
      return familyKeys("subjects", "classes", "courses", "groups");
    case "homeroom":
      return familyKeys("homerooms", "classes");
    case "user":
      // Names of users are on most screens. A removed user is not refetched: pages that show them close.
      return [
        ...(payload.action === "DELETED" ? USER_LIST_KEYS : familyKeys("users")),
        ...familyKeys("me", "classes", "groups", "homerooms", "room", "board", "tenants"),
      ];
    case "organization":
      return familyKeys("admin", "me", "deletions");
    case "board":
      return board;
    default:
      return [];
  }
}
