// Texts that a teacher inserts into feedback. They are private.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { foldCase } from "../../i18n/names";

export type Snippet = Schemas["TextSnippet"];

export const SNIPPET_MAX = 2_000;

export const snippetsQuery = queryOptions({
  queryKey: queryKeys.snippets.list(),
  queryFn: () => unwrap(client.GET("/snippets")),
});

/** The snippets that contain the text, without regard to case. */
export function findSnippets(snippets: readonly Snippet[], search: string): readonly Snippet[] {
  const wanted = foldCase(search.trim());
  return wanted === "" ? snippets : snippets.filter((snippet) => foldCase(snippet.text).includes(wanted));
}

/** Adds a snippet below what is written, if it fits. */
export function appendSnippet(text: string, snippet: string, max: number): string {
  const before = text.trimEnd();
  return `${before}${before === "" ? "" : "\n"}${snippet}`.slice(0, max);
}

/** Whether a text can be saved as a snippet: it is new, and not too long. */
export function canBeSnippet(text: string, snippets: readonly Snippet[]): boolean {
  const wanted = text.trim();
  return wanted !== "" && wanted.length <= SNIPPET_MAX && !snippets.some((snippet) => snippet.text === wanted);
}
