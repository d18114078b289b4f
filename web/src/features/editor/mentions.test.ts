import { describe, expect, it } from "vitest";

import type { CommentThread } from "./comments";
import { awaits, matches, mentionedIn, partsOf, queryAt, readable, stored } from "./mentions";

const ana = { id: "a-1", name: "Ana Lima" };
const anaB = { id: "a-2", name: "Ana" };
const jose = { id: "j-1", name: "José O'Neil (8a)" };
const people = [ana, anaB, jose];

describe("mentions", () => {
  it("are stored as ids and read as names", () => {
    const text = "@Ana Lima and @Ana, ask @José O'Neil (8a)!";
    expect(stored(text, people)).toBe("@[a-1] and @[a-2], ask @[j-1]!");
    expect(readable(stored(text, people), people)).toBe(text);
    expect(stored("@Ana @Ana Lima\n@Ana", people)).toBe("@[a-2] @[a-1]\n@[a-2]");
  });

  it("follow a changed name, and show people who are gone", () => {
    expect(partsOf("Hi @[a-1], @[gone].", [{ id: "a-1", name: "Ana Costa" }])).toEqual([
      { text: "Hi " },
      { id: "a-1", name: "Ana Costa" },
      { text: ", " },
      { id: "gone", name: null },
      { text: "." },
    ]);
  });

  it("stay the same when a text is edited", () => {
    const twin = { id: "a-3", name: "Ana" };
    const text = "@[a-3] and @[gone]";
    const before = mentionedIn(text, [anaB, twin], "Former member");
    expect(readable(text, before)).toBe("@Ana and @Former member");
    expect(stored(`${readable(text, before)}!`, [twin, anaB], before)).toBe(`${text}!`);
  });

  it("are no parts of words, and of two equal names the chosen one", () => {
    expect(stored("@Anabel and @Ana, mail@Ana", people)).toBe("@Anabel and @[a-2], mail@Ana");
    const twin = { id: "a-3", name: "Ana" };
    expect(stored("@Ana", [twin, anaB], [twin])).toBe("@[a-3]");
    expect(stored("@", [])).toBe("@");
  });

  it("cannot be typed as ids", () => {
    expect(stored("see @[note] of @Ana", people)).toBe("see @ [note] of @[a-2]");
    expect(stored("@[note]", [])).toBe("@ [note]");
  });

  it("are searched at the caret", () => {
    expect(queryAt("Hi @an", 6)).toEqual({ at: 3, query: "an" });
    expect(queryAt("Hi @an", 3)).toBeUndefined();
    expect(queryAt("mail@an", 7)).toBeUndefined();
    expect(queryAt("@an\nx", 5)).toBeUndefined();
    expect(queryAt("@[a-1] x", 8)).toBeUndefined();
    expect(matches(people, "li")).toEqual([ana]);
    expect(matches(people, "jose")).toEqual([jose]);
    expect(matches(people, "")).toHaveLength(3);
  });

  it("await the mentioned user until the thread is answered or resolved", () => {
    const thread = (isResolved: boolean, ...comments: [author: string, text: string][]) =>
      ({ isResolved, comments: comments.map(([id, text]) => ({ author: { id }, text })) }) as unknown as CommentThread;
    const asked: [string, string] = ["b", "What do you think, @[a]?"];
    expect(awaits(thread(false, asked), "a")).toBe(true);
    expect(awaits(thread(false, asked), "b")).toBe(false);
    expect(awaits(thread(true, asked), "a")).toBe(false);
    expect(awaits(thread(false, asked, ["a", "Fine."]), "a")).toBe(false);
    expect(awaits(thread(false, asked, ["a", "Fine."], asked), "a")).toBe(true);
    expect(awaits(thread(false, ["a", "@[a] note to myself"]), "a")).toBe(false);
    expect(awaits(thread(false, ["b", "No mention"]), "a")).toBe(false);
  });
});
