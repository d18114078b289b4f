import { QueryClient } from "@tanstack/react-query";
import { describe, expect, it } from "vitest";

import type { Board } from "../board/board";
import { allOf, families, invalidate, queryKeys, updateAll } from "./queryKeys";

/** Every key of the factory, with arguments that differ from each other. */
const keys = Object.entries(queryKeys).flatMap(([family, members]) =>
  Object.entries(members as Record<string, (...parts: string[]) => readonly unknown[]>).map(([name, make]) => ({
    family,
    name: `${family}.${name}`,
    key: make("1", "2", "3", "4"),
  })),
);

/** Members that are only the beginning of others, for invalidation; no query has such a key. */
const BEGINNINGS = new Set(["admin.allSessions", "courses.details", "document.all", "messages.boxes", "users.lists"]);

describe("queryKeys", () => {
  it("gives every query a key of its own", () => {
    const texts = keys.map(({ key }) => JSON.stringify(key));
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("begins every key with its family", () => {
    for (const { family, key } of keys) expect(key[0]).toBe(family);
  });

  it("has no query whose key is the beginning of another one's, but the signed-in person", () => {
    const queries = keys.filter(({ name }) => !BEGINNINGS.has(name));
    for (const one of queries) {
      const inside = queries.filter((other) => other !== one && one.key.every((part, index) => other.key[index] === part));
      expect([one.name, inside.map(({ name }) => name)]).toEqual([one.name, one.name === "me.self" ? ["me.acting", "me.devices"] : []]);
    }
  });

  it("changes a family of one type as a whole, and nothing else", async () => {
    const cache = new QueryClient();
    cache.setQueryData(queryKeys.board.one("a"), { groups: [] } as unknown as Board);
    // What the window "+5 min" asks for was under a key that began like a board's, and every change of a board broke on it.
    cache.setQueryData(queryKeys.assignments.deadlinePreview("a", "later"), 8);
    let changed = 0;
    updateAll(cache, "board", (board) => {
      changed += 1;
      return { ...board };
    });
    expect(changed).toBe(1);
    expect(allOf(cache, "board")).toHaveLength(1);
    await invalidate(cache, "board");
    expect(cache.getQueryState(queryKeys.board.one("a"))?.isInvalidated).toBe(true);
    expect(cache.getQueryState(queryKeys.assignments.deadlinePreview("a", "later"))?.isInvalidated).toBe(false);
    expect(families("board", "room")).toEqual([["board"], ["room"]]);
  });
});
