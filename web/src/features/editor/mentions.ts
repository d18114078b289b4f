// Mentions in comments: the service stores `@[id]`, so that the name is always the present one. Users read and write `@Name`.
import type { CommentList, CommentThread } from "./comments";

export interface MentionedPerson {
  id: string;
  name: string;
}

/** A part of a comment: text, or a person who is mentioned; `name` is null if the person is not known any more. */
export type CommentPart = { text: string } | { id: string; name: string | null };

const MENTION = /@\[([\w.:-]{1,200})\]/g;
/** The longest name that is searched, in characters. */
const QUERY_MAX = 40;

export function partsOf(text: string, people: readonly MentionedPerson[]): CommentPart[] {
  const parts: CommentPart[] = [];
  let end = 0;
  for (const found of text.matchAll(MENTION)) {
    if (found.index > end) parts.push({ text: text.slice(end, found.index) });
    const id = found[1]!;
    parts.push({ id, name: people.find((person) => person.id === id)?.name ?? null });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** The people whom a text mentions. Those who are not known any more have the name `unknown`. */
export const mentionedIn = (text: string, people: readonly MentionedPerson[], unknown: string): MentionedPerson[] =>
  partsOf(text, people).flatMap((part) => ("text" in part ? [] : [{ id: part.id, name: part.name ?? unknown }]));

/** The text as its author edits it. */
export const readable = (text: string, people: readonly MentionedPerson[]): string =>
  partsOf(text, people)
    .map((part) => ("text" in part ? part.text : `@${part.name ?? ""}`))
    .join("");

/**
 * The text as the service stores it. Of people with the same name, the one who was chosen last is meant. A name is not found
 * inside of a longer word, and a typed `@[…]` is no mention.
 */
export function stored(
  text: string,
  people: readonly MentionedPerson[],
  chosen: readonly MentionedPerson[] = [],
): string {
  const typed = text.replace(MENTION, "@ [$1]");
  const byName = new Map([...people, ...chosen].map(({ name, id }) => [name, id]));
  const names = [...byName.keys()].filter((name) => name !== "").toSorted((one, other) => other.length - one.length);
  if (names.length === 0) return typed;
  const pattern = new RegExp(`(^|[^\\p{L}\\p{N}])@(${names.map(escape).join("|")})(?![\\p{L}\\p{N}])`, "gu");
  return typed.replace(pattern, (_all, before: string, name: string) => `${before}@[${byName.get(name)!}]`);
}

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** What is being searched at the caret: where the `@` is, and what follows it. */
export function queryAt(text: string, caret: number): { at: number; query: string } | undefined {
  const before = text.slice(0, caret);
  const at = before.lastIndexOf("@");
  if (at < 0 || before.length - at > QUERY_MAX) return undefined;
  const query = before.slice(at + 1);
  const isStart = at === 0 || /[\s(]/.test(before[at - 1]!);
  return isStart && !/[\n[\]@]/.test(query) ? { at, query } : undefined;
}

/** People of whose name a word begins with the query. */
export function matches<P extends MentionedPerson>(people: readonly P[], query: string): P[] {
  const wanted = plain(query);
  return people.filter(({ name }) => {
    const known = plain(name);
    return known.startsWith(wanted) || known.split(/\s+/).some((word) => word.startsWith(wanted));
  });
}

const plain = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Whether an open thread mentions a user who has not written in it since. */
export function awaits({ isResolved, comments }: CommentThread, userId: string): boolean {
  const last = comments.findLastIndex(
    ({ author, text }) => author.id !== userId && partsOf(text, []).some((part) => "id" in part && part.id === userId),
  );
  return !isResolved && last >= 0 && !comments.slice(last).some(({ author }) => author.id === userId);
}

/** The threads that await a user, oldest first. */
export const awaitingThreads = (list: CommentList | undefined, userId: string): CommentThread[] =>
  list?.threads.filter((thread) => awaits(thread, userId)) ?? [];
