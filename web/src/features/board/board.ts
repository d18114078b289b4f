// The lesson board: one query, kept fresh by realtime events, and functions that derive what the board shows.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { syncServerClock } from "../../hooks/serverClock";
import { queryKeys } from "../../api/queryKeys";

export type Board = Schemas["Board"];
export type BoardGroup = Schemas["BoardGroup"];

export const boardQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.board.one(id),
    queryFn: async () => {
      const answer = await unwrap(client.GET("/assignments/{id}/board", { params: { path: { id } } }));
      syncServerClock(answer.serverNow);
      return answer;
    },
  });

export const FILTERS = ["all", "working", "quiet", "help", "open"] as const;
export type Filter = (typeof FILTERS)[number];

const MINUTE = 60_000;

/** Inactivity after which a group counts as quiet. A hint for the teacher only: the group may be talking. */
const QUIET = 3 * MINUTE;

/** Above this number of groups, cards show only the essentials. */
export const DENSE = 16;

/** Time of the last activity in a group: a document save or typing. */
export function lastActivity(card: BoardGroup, at: number): number | undefined {
  const saved = card.documents.map((document) => Date.parse(document.lastActivity));
  const lastActiveMinute = card.activity.findLastIndex((count) => count > 0);
  const typed = lastActiveMinute < 0 ? [] : [at - (card.activity.length - 1 - lastActiveMinute) * MINUTE];
  return [...saved, ...typed].toSorted((one, other) => other - one)[0];
}

/** Start of the inactivity of a group that could work; undefined while it is active or has never been active. */
export function quietSince(card: BoardGroup, at: number): number | undefined {
  if (isDone(card) || isLocked(card) || card.group.isHidden || card.writing.length > 0) return undefined;
  const last = lastActivity(card, at);
  return last !== undefined && at - last >= QUIET ? last : undefined;
}

/** Whether somebody writes now or wrote a moment ago. A group that has not begun is neither working nor quiet. */
function isWorking(card: BoardGroup, at: number): boolean {
  if (isDone(card) || isLocked(card) || card.group.isHidden) return false;
  const last = lastActivity(card, at);
  return card.writing.length > 0 || (last !== undefined && at - last < QUIET);
}

export const isLocked = (card: BoardGroup): boolean => card.groupAssignment.assignment.status === "FINISHED";

export const isDone = (card: BoardGroup): boolean => ["SUBMITTED", "GRADED"].includes(card.groupAssignment.status);

export function matchesFilter(card: BoardGroup, filter: Filter, at: number): boolean {
  switch (filter) {
    case "all":
      return true;
    case "working":
      return isWorking(card, at);
    case "quiet":
      return quietSince(card, at) !== undefined;
    case "help":
      return isHelpNeeded(card);
    case "open":
      return !isDone(card);
  }
}

/** Whether the group still waits: its request is open and not marked as no longer needed. */
export const isHelpNeeded = (card: BoardGroup): boolean => card.needsHelp && card.helpWithdrawnAt === null;

/** The groups with an open request, longest waiting first; those that no longer need help are last. */
export function helpQueue(board: Board): BoardGroup[] {
  const cards = new Map(board.groups.map((card) => [card.group.id, card]));
  return board.helpQueue.map((id) => cards.get(id)).filter((card) => card !== undefined);
}

/** Groups that need the teacher, in order of urgency: waiting for help, submitted but not graded, quiet. */
export function groupsNeedingTeacher(board: Board, at: number): string[] {
  const submitted = board.groups.filter((card) => card.groupAssignment.status === "SUBMITTED");
  const quiet = board.groups.filter((card) => quietSince(card, at) !== undefined);
  const waiting = helpQueue(board).filter(isHelpNeeded);
  return [...new Set([...waiting, ...submitted, ...quiet].map((card) => card.group.id))];
}

/** The id after the given one; wraps around. */
export const nextInCycle = (ids: readonly string[], id: string | undefined): string | undefined =>
  ids[(ids.indexOf(id ?? "") + 1) % ids.length];

/** The announced number of minutes before the deadline that has been passed since the last check, if any. */
export const announcedMinutes = (deadline: number, before: number, at: number): number | undefined =>
  [0, 1, 5, 10].find((minutes) => deadline - before > minutes * MINUTE && deadline - at <= minutes * MINUTE);

/** A later deadline: the given minutes after the deadline, or after now if it has passed, rounded to the full minute. */
export const extendedDeadline = (deadline: string, at: number, minutes: number): string =>
  new Date(Math.max(Date.parse(deadline), Math.ceil(at / MINUTE) * MINUTE) + minutes * MINUTE).toISOString();
