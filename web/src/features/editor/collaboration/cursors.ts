// Cursors of the other authors: positions that move with the text, shown as carets with names.
import { type EditorState, Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { Mapping, type Step } from "prosemirror-transform";
import { Decoration, DecorationSet } from "prosemirror-view";

import type { Commit } from "./commits";
import { collaborationOf } from "./unconfirmed";

/** A cursor as it travels: positions in the document of a version. */
export interface CursorMessage {
  clientId: string;
  userId: string;
  name: string;
  version: number;
  anchor: number | null;
  head: number | null;
  left?: boolean;
}

export interface RemoteCursor {
  clientId: string;
  userId: string;
  name: string;
  /** Positions in the document that is shown; null for a page that has no cursor in the text. */
  anchor: number | null;
  head: number | null;
  seenAt: number;
}

/** Cursors that were not repeated for this time are forgotten. */
const FORGET_MS = 50_000;
/** Number of commits whose maps are kept to place a cursor of an older version. */
const MAX_COMMITS = 300;

const key = new PluginKey<readonly RemoteCursor[]>("cursors");

export const cursorsOf = (state: EditorState): readonly RemoteCursor[] => key.getState(state) ?? [];

export interface CursorLook {
  /** Color of a person, 0 to 7. */
  colorOf: (userId: string) => number;
  initialsOf: (name: string) => string;
}

export function cursorPlugin({ colorOf, initialsOf }: CursorLook): Plugin<readonly RemoteCursor[]> {
  return new Plugin<readonly RemoteCursor[]>({
    key,
    state: {
      init: () => [],
      apply: (transaction, cursors) => {
        const next = transaction.getMeta(key) as readonly RemoteCursor[] | undefined;
        if (next !== undefined) return next;
        if (!transaction.docChanged) return cursors;
        return cursors.map((cursor) =>
          cursor.head === null || cursor.anchor === null
            ? cursor
            : {
                ...cursor,
                anchor: transaction.mapping.map(cursor.anchor, -1),
                head: transaction.mapping.map(cursor.head, -1),
              },
        );
      },
    },
    props: {
      decorations: (state) => {
        const limit = state.doc.content.size;
        const decorations = cursorsOf(state).flatMap((cursor) => {
          const { anchor, head, userId, name, clientId } = cursor;
          if (anchor === null || head === null || head > limit || anchor > limit) return [];
          const color = colorOf(userId);
          const caret = Decoration.widget(head, () => newCaret(color, name, initialsOf(name)), {
            side: 10,
            key: `${clientId}-${color}-${name}`,
            ignoreSelection: true,
          });
          if (anchor === head) return [caret];
          const [from, to] = anchor < head ? [anchor, head] : [head, anchor];
          return [caret, Decoration.inline(from, to, { class: `remote-selection person-${color}` })];
        });
        return decorations.length === 0 ? null : DecorationSet.create(state.doc, decorations);
      },
    },
  });
}

function newCaret(color: number, name: string, initials: string): HTMLElement {
  const caret = document.createElement("span");
  caret.className = `remote-caret person-${color}`;
  // Names of cursors are announced by the list of people, not in the middle of the text.
  caret.setAttribute("aria-hidden", "true");
  const label = document.createElement("span");
  label.className = "remote-name";
  label.dataset.name = name.split(" ")[0] ?? name;
  label.dataset.initials = initials;
  caret.append(label);
  return caret;
}

const setCursors = (state: EditorState, cursors: readonly RemoteCursor[]): Transaction =>
  state.tr.setMeta(key, cursors).setMeta("addToHistory", false);

/** Places received cursors: maps their positions over the commits since their version and over the own unconfirmed steps. */
export class CursorTracker {
  #commits: Commit[] = [];
  #waiting: CursorMessage[] = [];

  /** Remembers applied commits. Call before `receive`. */
  addCommits(commits: readonly Commit[]): void {
    this.#commits = [...this.#commits, ...commits].slice(-MAX_COMMITS);
  }

  /** Maps positions of a version to the document that is shown; undefined if commits since the version are unknown. */
  mappingFrom(state: EditorState, version: number): Mapping | undefined {
    const { version: confirmed, unconfirmed } = collaborationOf(state);
    const since = this.#commits.filter((commit) => commit.version > version);
    if (version > confirmed || since.length < confirmed - version) return undefined;
    const steps: Step[] = [...since.flatMap((commit) => commit.steps), ...unconfirmed.map(({ step }) => step)];
    return new Mapping(steps.map((step) => step.getMap()));
  }

  /** The state with a received cursor; undefined if it refers to commits that have not arrived yet. */
  receive(state: EditorState, message: CursorMessage, now: number): Transaction | undefined {
    const others = cursorsOf(state).filter(({ clientId }) => clientId !== message.clientId);
    if (message.left === true) return setCursors(state, others);
    if (message.version > collaborationOf(state).version) {
      this.#waiting = [...this.#waiting.filter(({ clientId }) => clientId !== message.clientId), message].slice(-50);
      return undefined;
    }
    const mapping = this.mappingFrom(state, message.version);
    if (mapping === undefined) return undefined;
    const place = (at: number | null) => (at === null ? null : Math.min(mapping.map(at, -1), state.doc.content.size));
    const { clientId, userId, name, anchor, head } = message;
    return setCursors(state, [
      ...others,
      { clientId, userId, name, anchor: place(anchor), head: place(head), seenAt: now },
    ]);
  }

  /** Cursors whose commits have arrived. */
  takeWaiting(version: number): CursorMessage[] {
    const ready = this.#waiting.filter((message) => message.version <= version);
    this.#waiting = this.#waiting.filter((message) => message.version > version);
    return ready;
  }
}

/** Removes cursors that were not repeated. */
export function forgetOldCursors(state: EditorState, now: number): Transaction | undefined {
  const cursors = cursorsOf(state);
  const fresh = cursors.filter(({ seenAt }) => now - seenAt < FORGET_MS);
  return fresh.length === cursors.length ? undefined : setCursors(state, fresh);
}

/** The own cursor in the document of the confirmed version. */
export function ownCursor(state: EditorState): { version: number; anchor: number; head: number } {
  const { version, unconfirmed } = collaborationOf(state);
  const mapping = new Mapping(unconfirmed.toReversed().map(({ step }) => step.getMap().invert()));
  const { anchor, head } = state.selection;
  return { version, anchor: mapping.map(anchor, -1), head: mapping.map(head, -1) };
}
