// Passages of comments: positions that move with the text, shown as highlights.
import { type EditorState, Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { Mapping } from "prosemirror-transform";
import { Decoration, DecorationSet } from "prosemirror-view";

import { collaborationOf } from "./unconfirmed";

/** A passage in the document that is shown. */
export interface CommentPassage {
  threadId: string;
  from: number;
  to: number;
  isResolved: boolean;
}

interface CommentState {
  passages: readonly CommentPassage[];
  /** The thread that is selected in the list. */
  active: string | undefined;
  /** The passage of the comment that is being written. */
  draft: { from: number; to: number } | undefined;
}

const key = new PluginKey<CommentState>("comments");
const NOTHING: CommentState = { passages: [], active: undefined, draft: undefined };

export const commentsOf = (state: EditorState): CommentState => key.getState(state) ?? NOTHING;

/** Changes what is shown of the comments; fields that are absent stay as they are. */
export const showComments = (state: EditorState, change: Partial<CommentState>): Transaction =>
  state.tr.setMeta(key, change).setMeta("addToHistory", false);

/** The thread of the shortest passage at a position. */
export const threadAt = (state: EditorState, at: number): string | undefined =>
  visible(commentsOf(state))
    .filter(({ from, to }) => from <= at && at <= to)
    .toSorted((one, other) => one.to - one.from - (other.to - other.from))[0]?.threadId;

const visible = ({ passages, active }: CommentState) =>
  passages.filter(({ isResolved, threadId }) => !isResolved || threadId === active);

export function commentPlugin(onPress: (threadId: string) => void): Plugin<CommentState> {
  return new Plugin<CommentState>({
    key,
    state: {
      init: () => NOTHING,
      apply: (transaction, value) => {
        const change = transaction.getMeta(key) as Partial<CommentState> | undefined;
        const next = change === undefined ? value : { ...value, ...change };
        if (!transaction.docChanged) return next;
        // Text that is inserted at the edges does not belong to the passage, as in the service.
        const move = <P extends { from: number; to: number }>(passage: P): P[] => {
          const from = transaction.mapping.map(passage.from, 1);
          const to = transaction.mapping.map(passage.to, -1);
          return from < to ? [{ ...passage, from, to }] : [];
        };
        return {
          ...next,
          passages: next.passages.flatMap(move),
          draft: next.draft === undefined ? undefined : move(next.draft)[0],
        };
      },
    },
    props: {
      decorations: (state) => {
        const value = commentsOf(state);
        const decorations = visible(value).map(({ threadId, from, to }) =>
          Decoration.inline(from, to, { class: threadId === value.active ? "commented active" : "commented" }),
        );
        if (value.draft !== undefined)
          decorations.push(Decoration.inline(value.draft.from, value.draft.to, { class: "commented active" }));
        return decorations.length === 0 ? null : DecorationSet.create(state.doc, decorations);
      },
      handleClick: (view, at) => {
        const thread = view.state.selection.empty ? threadAt(view.state, at) : undefined;
        if (thread !== undefined) onPress(thread);
        return false;
      },
    },
  });
}

/** A passage in the document of the confirmed version, as the service knows it. */
export function confirmedPassage(
  state: EditorState,
  passage: { from: number; to: number },
): { version: number; from: number; to: number } | undefined {
  const { version, unconfirmed } = collaborationOf(state);
  const mapping = new Mapping(unconfirmed.toReversed().map(({ step }) => step.getMap().invert()));
  const from = mapping.map(passage.from, 1);
  const to = mapping.map(passage.to, -1);
  return from < to ? { version, from, to } : undefined;
}
