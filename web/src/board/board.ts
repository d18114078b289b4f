// The lesson board: one question, kept fresh by the live channel.
import { queryOptions } from "@tanstack/react-query";

import { client, data, type Schemas } from "../api/client";
import { serverSaid } from "../lib/clock";

export type Board = Schemas["Board"];
export type BoardGroup = Schemas["BoardGroup"];

export const board = (id: string) =>
  queryOptions({
    queryKey: ["board", id],
    queryFn: async () => {
      const answer = await data(client.GET("/assignments/{id}/board", { params: { path: { id } } }));
      serverSaid(answer.serverNow);
      return answer;
    },
  });

export const FILTERS = ["all", "working", "quiet", "help", "open"] as const;
export type Filter = (typeof FILTERS)[number];

/** Three minutes without anything: a word for the teacher, no verdict. Groups may be talking, which is work too. */
const QUIET = 180_000;

/** Since when nothing happened in a group that could work; undefined while something does, or nothing ever did. */
export function quietSince(card: BoardGroup, at: number): number | undefined {
  if (card.groupAssignment.status === "SUBMITTED" || card.groupAssignment.status === "GRADED" || card.writing.length > 0) return undefined;
  const last = card.documents.map((document) => Date.parse(document.lastActivity)).toSorted((one, other) => other - one)[0];
  return last !== undefined && at - last >= QUIET ? last : undefined;
}

export const isDone = (card: BoardGroup): boolean => ["SUBMITTED", "GRADED"].includes(card.groupAssignment.status);

export function passes(card: BoardGroup, filter: Filter, at: number): boolean {
  switch (filter) {
    case "all":
      return true;
    case "working":
      return !isDone(card) && quietSince(card, at) === undefined;
    case "quiet":
      return quietSince(card, at) !== undefined;
    case "help":
      return card.needsHelp;
    case "open":
      return !isDone(card);
  }
}

/** The groups that wait for help, the longest waiting first. */
export function queue(found: Board): BoardGroup[] {
  const cards = new Map(found.groups.map((card) => [card.group.id, card]));
  return found.helpQueue.map((id) => cards.get(id)).filter((card) => card !== undefined);
}

export const nameOf = (group: { displayName?: string | null; name: string }): string => group.displayName ?? group.name;
