import { expect, it } from "vitest";

import { appendSnippet, canBeSnippet, findSnippets, type Snippet } from "./snippets";

const snippet = (text: string): Snippet => ({ id: text, text, createdAt: "", updatedAt: "" });
const ALL = [snippet("Name your sources."), snippet("Größe der Schrift")];

it("finds snippets without regard to case and marks", () => {
  expect(findSnippets(ALL, " ")).toEqual(ALL);
  expect(findSnippets(ALL, "SOURCES")).toEqual([ALL[0]]);
  expect(findSnippets(ALL, "größe")).toEqual([ALL[1]]);
  expect(findSnippets(ALL, "poster")).toEqual([]);
});

it("appends a snippet in a line of its own", () => {
  expect(appendSnippet("", "Well done.", 100)).toBe("Well done.");
  expect(appendSnippet("Good.\n", "Well done.", 100)).toBe("Good.\nWell done.");
  expect(appendSnippet("Good.", "Well done.", 8)).toBe("Good.\nWe");
});

it("saves a new text that is not too long", () => {
  expect(canBeSnippet("Name your sources. ", ALL)).toBe(false);
  expect(canBeSnippet(" ", ALL)).toBe(false);
  expect(canBeSnippet("x".repeat(2001), ALL)).toBe(false);
  expect(canBeSnippet("Well done.", ALL)).toBe(true);
});
