import { describe, expect, it } from "vitest";

import { type CommentList, type DocumentComment, unreadComments } from "./comments";

const at = (minute: number) => `2026-11-25T22:${String(minute).padStart(2, "0")}:00.000Z`;

const comment = (
  author: string,
  createdAt: string,
  editedAt: string | null = null,
  text = "Why?",
): DocumentComment => ({
  id: `${author}-${createdAt}`,
  author: { id: author, name: author, image: null },
  text,
  createdAt,
  editedAt,
});

function count(comments: DocumentComment[], readUntil: string | null): number {
  const thread = { comments } as CommentList["threads"][number];
  return unreadComments({ threads: [thread], readUntil } as CommentList, "ben").length;
}

describe("unread comments", () => {
  it("are those of others since the user read", () => {
    const comments = [comment("cem", at(1)), comment("ben", at(2)), comment("cem", at(3))];
    expect(count(comments, null)).toBe(2);
    expect(count(comments, at(1))).toBe(1);
    expect(count(comments, at(3))).toBe(0);
  });

  it("include edited ones, and no texts of erased persons", () => {
    expect(count([comment("cem", at(1), at(5))], at(3))).toBe(1);
    expect(count([comment("cem", at(4), null, "")], at(3))).toBe(0);
    expect(unreadComments(undefined, "ben")).toEqual([]);
  });
});
