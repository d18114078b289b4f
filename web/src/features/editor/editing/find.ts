// Find and replace: the matches are decorations, the current one is selected.
import type { Node } from "prosemirror-model";
import { type EditorState, Plugin, PluginKey, TextSelection, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";

export interface Match {
  from: number;
  to: number;
}

export interface FindState {
  query: string;
  isCaseSensitive: boolean;
  matches: readonly Match[];
  /** Index of the current match; -1 if there is none. */
  current: number;
}

const key = new PluginKey<FindState>("find");
const NOTHING: FindState = { query: "", isCaseSensitive: false, matches: [], current: -1 };
/** More matches are not marked; they are found by the next ones. */
const MAX_MATCHES = 2_000;

export const findStateOf = (state: EditorState): FindState => key.getState(state) ?? NOTHING;

/** Positions of a text in a document. Matches do not extend over blocks; other inline nodes separate words. */
export function findMatches(doc: Node, query: string, isCaseSensitive: boolean): Match[] {
  const matches: Match[] = [];
  // Lower case can have another length than the text ("İ"), which would shift positions; such characters stay as they are.
  const fold = (text: string) =>
    isCaseSensitive
      ? text
      : [...text].map((char) => (char.toLowerCase().length === char.length ? char.toLowerCase() : char)).join("");
  const wanted = fold(query);
  if (wanted === "") return matches;
  doc.descendants((node, at) => {
    if (matches.length >= MAX_MATCHES) return false;
    if (!node.isTextblock) return true;
    const text = fold(node.textBetween(0, node.content.size, undefined, "\ufffc"));
    for (let index = text.indexOf(wanted); index >= 0; index = text.indexOf(wanted, index + wanted.length))
      matches.push({ from: at + 1 + index, to: at + 1 + index + wanted.length });
    return false;
  });
  return matches;
}

export const findPlugin = new Plugin<FindState>({
  key,
  state: {
    init: () => NOTHING,
    apply: (transaction, value) => {
      const next = { ...value, ...(transaction.getMeta(key) as Partial<FindState> | undefined) };
      if (next.query === "") return NOTHING;
      if (!transaction.docChanged && transaction.getMeta(key) === undefined) return value;
      const matches = findMatches(transaction.doc, next.query, next.isCaseSensitive);
      return { ...next, matches, current: Math.min(next.current, matches.length - 1) };
    },
  },
  props: {
    decorations: (state) => {
      const { matches, current } = findStateOf(state);
      if (matches.length === 0) return null;
      return DecorationSet.create(
        state.doc,
        matches.map(({ from, to }, index) =>
          Decoration.inline(from, to, { class: index === current ? "match current" : "match" }),
        ),
      );
    },
  },
});

/** Searches for a text; the first match at or after the selection becomes the current one. */
export function search(state: EditorState, query: string, isCaseSensitive: boolean): Transaction {
  const matches = findMatches(state.doc, query, isCaseSensitive);
  const next = matches.findIndex(({ from }) => from >= state.selection.from);
  const current = next === -1 ? (matches.length > 0 ? 0 : -1) : next;
  return select(state.tr.setMeta(key, { query, isCaseSensitive, current }), matches[current]);
}

/** Moves to the next match, or to the one before. */
export function step(state: EditorState, direction: -1 | 1): Transaction {
  const { matches, current } = findStateOf(state);
  if (matches.length === 0) return state.tr;
  const next = (current + direction + matches.length) % matches.length;
  return select(state.tr.setMeta(key, { current: next }), matches[next]);
}

function select(tr: Transaction, match: Match | undefined): Transaction {
  return match === undefined
    ? tr
    : tr.setSelection(TextSelection.create(tr.doc, match.from, match.to)).scrollIntoView();
}

/** Replaces the current match and moves to the next. */
export function replaceCurrent(state: EditorState, text: string): Transaction {
  const { matches, current } = findStateOf(state);
  const match = matches[current];
  if (match === undefined) return state.tr;
  const tr = state.tr.insertText(text, match.from, match.to);
  const after = findMatches(tr.doc, findStateOf(state).query, findStateOf(state).isCaseSensitive);
  const next = Math.max(
    0,
    after.findIndex(({ from }) => from >= match.from + text.length),
  );
  return select(tr.setMeta(key, { current: after.length === 0 ? -1 : next }), after[next]);
}

export function replaceAll(state: EditorState, text: string): Transaction {
  const { tr } = state;
  for (const { from, to } of findStateOf(state).matches.toReversed()) tr.insertText(text, from, to);
  return tr.setMeta(key, { current: -1 });
}
