import { QueryClient } from "@tanstack/react-query";
import { describe, expect, it } from "vitest";

import type { Board } from "../features/board/board";
import { getFamily, familyKeys, invalidate, queryKeys, updateFamily } from "./queryKeys";
import { partial } from "../testing/partial";

describe("queryKeys", () => {
  it("begins every key with its family and its name", () => {
    expect(queryKeys.board.one("a")).toEqual(["board", "one", "a"]);
    expect(queryKeys.document.editor("a", "DRAFT", true, false)).toEqual([
      "document",
      "editor",
      "a",
      "DRAFT",
      true,
      false,
    ]);
    expect(queryKeys.assignments.deadlinePreview("a", "later")).not.toEqual(expect.arrayContaining(["board"]));
  });

  it("gives the beginning of keys with fewer arguments", () => {
    expect(queryKeys.courses.one("a").slice(0, 2)).toEqual(queryKeys.courses.one());
    expect(queryKeys.document.editor("a", "DRAFT", true, false).slice(0, 3)).toEqual(queryKeys.document.editor("a"));
  });

  it("changes a family of one type as a whole, and nothing else", async () => {
    const cache = new QueryClient();
    cache.setQueryData(queryKeys.board.one("a"), partial<Board>({ groups: [] }));
    // The preview query of the deadline dialog once had a key that began like a board's, and every board event broke on it.
    cache.setQueryData(queryKeys.assignments.deadlinePreview("a", "later"), 8);
    let changed = 0;
    updateFamily(cache, "board", (board) => {
      changed += 1;
      return { ...board };
    });
    expect(changed).toBe(1);
    expect(getFamily(cache, "board")).toHaveLength(1);
    await invalidate(cache, "board");
    expect(cache.getQueryState(queryKeys.board.one("a"))?.isInvalidated).toBe(true);
    expect(cache.getQueryState(queryKeys.assignments.deadlinePreview("a", "later"))?.isInvalidated).toBe(false);
    expect(familyKeys("board", "room")).toEqual([["board"], ["room"]]);
  });
});
