// Commands of the toolbar and of the keyboard. Each returns whether it applies, and runs only with `dispatch`.
import { lift, setBlockType } from "prosemirror-commands";
import type { Attrs, Node, NodeType } from "prosemirror-model";
import { type Command, type EditorState, NodeSelection, TextSelection } from "prosemirror-state";

import { isInside, toggleQuote } from "../../rich-text/commands";
import { type Align, markType, nodeType, schema } from "../document/schema";

/** Gives the selection a color or highlight; null removes it. */
export const setColor =
  (name: "color" | "highlight", color: string | null): Command =>
  (state, dispatch) => {
    const type = markType(name);
    const { from, to, empty } = state.selection;
    const mark = color === null ? null : type.create({ color });
    if (state.selection instanceof NodeSelection) return false;
    if (empty) dispatch?.(mark === null ? state.tr.removeStoredMark(type) : state.tr.addStoredMark(mark));
    else dispatch?.(mark === null ? state.tr.removeMark(from, to, type) : state.tr.addMark(from, to, mark));
    return true;
  };

/** Removes all marks except links, and paragraph formatting. */
export const clearFormatting: Command = (state, dispatch) => {
  const { from, to, empty } = state.selection;
  const { tr } = state;
  for (const type of Object.values(schema.marks)) {
    if (type === markType("link")) continue;
    if (empty) tr.removeStoredMark(type);
    else tr.removeMark(from, to, type);
  }
  eachBlock(state, (node, at) => {
    if (node.attrs["align"] !== null) tr.setNodeAttribute(at, "align", null);
  });
  dispatch?.(tr);
  return true;
};

/** Calls `visit` for every paragraph and heading of the selection. */
function eachBlock({ doc, selection }: EditorState, visit: (node: Node, at: number) => void): void {
  for (const { $from, $to } of selection.ranges)
    doc.nodesBetween($from.pos, $to.pos, (node, at) => {
      if (node.type === nodeType("paragraph") || node.type === nodeType("heading")) visit(node, at);
    });
}

export const setAlign =
  (align: Align | null): Command =>
  (state, dispatch) => {
    const { tr } = state;
    let isPossible = false;
    eachBlock(state, (node, at) => {
      isPossible = true;
      if (node.attrs["align"] !== align) tr.setNodeAttribute(at, "align", align);
    });
    if (isPossible) dispatch?.(tr);
    return isPossible;
  };

/** Kind of the block with the cursor, as the menu of styles shows it. */
export type BlockKind = "paragraph" | "h1" | "h2" | "h3" | "h4" | "code" | "quote" | `style:${string}`;

export function blockKind({ selection }: EditorState): BlockKind {
  const { $from } = selection;
  const { parent } = $from;
  if (parent.type === nodeType("code_block")) return "code";
  if (typeof parent.attrs["style"] === "string") return `style:${parent.attrs["style"]}`;
  if (parent.type === nodeType("heading")) return `h${parent.attrs["level"] as 1 | 2 | 3 | 4}`;
  return isInside($from, "blockquote") ? "quote" : "paragraph";
}

type Position = EditorState["selection"]["$from"];

export const setBlock =
  (kind: BlockKind): Command =>
  (state, dispatch, view) => {
    if (kind === "quote") return toggleQuote(state, dispatch);
    const unquoted = isInside(state.selection.$from, "blockquote") && kind === "paragraph";
    if (unquoted) return lift(state, dispatch);
    if (kind === "code") {
      const isCode = state.selection.$from.parent.type === nodeType("code_block");
      return setBlockType(nodeType(isCode ? "paragraph" : "code_block"))(state, dispatch, view);
    }
    if (kind.startsWith("style:"))
      return setBlockAttributes(nodeType("paragraph"), { style: kind.slice(6) })(state, dispatch);
    if (kind === "paragraph") return setBlockAttributes(nodeType("paragraph"), { style: null })(state, dispatch);
    return setBlockAttributes(nodeType("heading"), { level: Number(kind[1]), style: null })(state, dispatch);
  };

/** Changes type and attributes of the selected blocks; the alignment stays. */
function setBlockAttributes(type: NodeType, attributes: Attrs): Command {
  return (state, dispatch) => {
    const { tr } = state;
    let isPossible = false;
    for (const { $from, $to } of state.selection.ranges)
      state.doc.nodesBetween($from.pos, $to.pos, (node, at) => {
        if (!node.isTextblock) return;
        const $at = state.doc.resolve(at);
        const index = $at.index();
        // The first block of a list item is always a paragraph.
        if (node.type !== type && !$at.parent.canReplaceWith(index, index + 1, type)) return;
        isPossible = true;
        const { align = null } = node.attrs;
        const from = tr.mapping.map(at);
        if (node.type === nodeType("code_block")) tr.setBlockType(from + 1, from + 1, type, attributes);
        else tr.setNodeMarkup(from, type, { align, ...attributes });
      });
    if (isPossible) dispatch?.(tr.scrollIntoView());
    return isPossible;
  };
}

export const toggleChecked: Command = ({ tr, selection }, dispatch) => {
  const { $from } = selection;
  for (let { depth } = $from; depth > 0; depth -= 1) {
    const node = $from.node(depth);
    if (node.type !== nodeType("check_item")) continue;
    dispatch?.(tr.setNodeAttribute($from.before(depth), "checked", node.attrs["checked"] !== true));
    return true;
  }
  return false;
};

/** A table with a header row. */
export function newTable(rows: number, columns: number): Node {
  const cell = (type: NodeType) => type.create(null, nodeType("paragraph").create());
  const row = (type: NodeType) =>
    nodeType("table_row").create(
      null,
      Array.from({ length: columns }, () => cell(type)),
    );
  return nodeType("table").create(
    null,
    Array.from({ length: rows }, (_, index) => row(nodeType(index === 0 ? "table_header" : "table_cell"))),
  );
}

/** Moves the selected top block before its neighbor, or behind it. */
export const moveBlock =
  (direction: -1 | 1): Command =>
  ({ tr, selection }, dispatch) => {
    const { $from } = selection;
    if ($from.depth === 0) return false;
    const depth = blockDepth($from);
    const parent = $from.node(depth - 1);
    const index = $from.index(depth - 1);
    const other = index + direction;
    if (other < 0 || other >= parent.childCount) return false;
    const node = parent.child(index);
    const at = $from.before(depth);
    const to = direction < 0 ? at - parent.child(other).nodeSize : at + parent.child(other).nodeSize;
    tr.delete(at, at + node.nodeSize).insert(to, node);
    tr.setSelection(TextSelection.near(tr.doc.resolve(to + ($from.pos - at))));
    dispatch?.(tr.scrollIntoView());
    return true;
  };

/** The list item with the cursor, or else the outermost block. */
function blockDepth($at: Position): number {
  for (let { depth } = $at; depth > 0; depth -= 1)
    if (["list_item", "check_item"].includes($at.node(depth).type.name)) return depth;
  return 1;
}
