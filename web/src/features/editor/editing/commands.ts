// Commands of the toolbar and of the keyboard. Each returns whether it applies, and runs only with `dispatch`.
import { lift, setBlockType, toggleMark, wrapIn } from "prosemirror-commands";
import type { Attrs, MarkType, Node, NodeType } from "prosemirror-model";
import { liftListItem, sinkListItem, wrapInList } from "prosemirror-schema-list";
import { type Command, type EditorState, NodeSelection, TextSelection, type Transaction } from "prosemirror-state";
import { isInTable } from "prosemirror-tables";
import { findWrapping } from "prosemirror-transform";

import { type Align, markType, nodeType, schema } from "../document/schema";

export type ListName = "bullet_list" | "ordered_list" | "check_list";

/** Whether all selected text, or the text typed next, has a mark. */
export function hasMark({ selection, storedMarks, doc }: EditorState, type: MarkType): boolean {
  const { from, to, empty, $from } = selection;
  if (empty) return type.isInSet(storedMarks ?? $from.marks()) !== undefined;
  let isMissing = false;
  let hasText = false;
  doc.nodesBetween(from, to, (node) => {
    if (!node.isText) return;
    hasText = true;
    if (type.isInSet(node.marks) === undefined) isMissing = true;
  });
  return hasText && !isMissing;
}

export const toggle = (name: Parameters<typeof markType>[0], attributes: Attrs | null = null): Command =>
  toggleMark(markType(name), attributes, { removeWhenPresent: false });

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
  return isInside($from, nodeType("blockquote")) ? "quote" : "paragraph";
}

type Position = EditorState["selection"]["$from"];

function isInside($at: Position, type: NodeType): boolean {
  for (let { depth } = $at; depth > 0; depth -= 1) if ($at.node(depth).type === type) return true;
  return false;
}

export const setBlock =
  (kind: BlockKind): Command =>
  (state, dispatch, view) => {
    if (kind === "quote") return toggleQuote(state, dispatch);
    const unquoted = isInside(state.selection.$from, nodeType("blockquote")) && kind === "paragraph";
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

const toggleQuote: Command = (state, dispatch) =>
  isInside(state.selection.$from, nodeType("blockquote"))
    ? lift(state, dispatch)
    : wrapIn(nodeType("blockquote"))(state, dispatch);

/** The innermost list around the cursor. */
export function listAround({ selection }: EditorState): ListName | undefined {
  for (let { depth } = selection.$from; depth > 0; depth -= 1) {
    const { name } = selection.$from.node(depth).type;
    if (name === "bullet_list" || name === "ordered_list" || name === "check_list") return name;
  }
  return undefined;
}

const itemOf = (list: ListName) => nodeType(list === "check_list" ? "check_item" : "list_item");

/** Makes the selection a list, changes the kind of its list, or takes it out of the list if it has that kind already. */
export const toggleList =
  (list: ListName): Command =>
  (state, dispatch) => {
    const current = listAround(state);
    if (current === undefined) return headingsToParagraphs(wrapInList(nodeType(list)))(state, dispatch);
    if (current === list) return liftListItem(itemOf(list))(state, dispatch);
    if (itemOf(current) === itemOf(list)) return changeListType(list)(state, dispatch);
    // The items have another type. They leave their list and enter the new one, so that text which others type meanwhile stays.
    return chain(liftListItem(itemOf(current)), wrapInList(nodeType(list)))(state, dispatch);
  };

function changeListType(list: ListName): Command {
  return ({ tr, selection }, dispatch) => {
    const { $from } = selection;
    for (let { depth } = $from; depth > 0; depth -= 1) {
      if (!["bullet_list", "ordered_list"].includes($from.node(depth).type.name)) continue;
      dispatch?.(tr.setNodeMarkup($from.before(depth), nodeType(list)));
      return true;
    }
    return false;
  };
}

/** A list item begins with a paragraph, so selected headings become paragraphs first. */
function headingsToParagraphs(command: Command): Command {
  return (state, dispatch) =>
    command(state, dispatch) || chain(setBlockType(nodeType("paragraph")), command)(state, dispatch);
}

/** Runs commands one after the other as a single transaction. Fails if one of them does. */
export function chain(...commands: readonly Command[]): Command {
  return (state, dispatch) => {
    const { tr } = state;
    let current = state;
    for (const command of commands) {
      let applied: Transaction | undefined;
      if (!command(current, (transaction) => (applied = transaction)) || applied === undefined) return false;
      for (const step of applied.steps) tr.step(step);
      tr.setSelection(resolveSelection(tr, applied));
      current = current.apply(applied);
    }
    dispatch?.(tr.scrollIntoView());
    return true;
  };
}

const resolveSelection = (tr: Transaction, { selection }: Transaction) =>
  selection instanceof TextSelection
    ? TextSelection.create(tr.doc, selection.anchor, selection.head)
    : TextSelection.near(tr.doc.resolve(selection.from));

export const indent: Command = (state, dispatch) =>
  sinkListItem(nodeType("list_item"))(state, dispatch) || sinkListItem(nodeType("check_item"))(state, dispatch);

export const outdent: Command = (state, dispatch) =>
  liftListItem(nodeType("list_item"))(state, dispatch) || liftListItem(nodeType("check_item"))(state, dispatch);

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

/** Inserts a block after the one with the cursor and puts the cursor behind it. */
export const insertBlock =
  (node: Node): Command =>
  (state, dispatch) => {
    const { $from, $to } = state.selection;
    const depth = $from.sharedDepth($to.pos);
    for (let level = Math.max(depth, 0); level >= 0; level -= 1) {
      const parent = $from.node(level);
      if (parent.inlineContent) continue;
      const index = $to.indexAfter(level);
      if (!parent.canReplaceWith(index, index, node.type)) continue;
      if (dispatch === undefined) return true;
      const { tr } = state;
      const inner = $from.parent;
      // An empty paragraph at the cursor is replaced.
      const isEmpty = $from.depth === level + 1 && inner.type === nodeType("paragraph") && inner.content.size === 0;
      const at = isEmpty ? $from.before(level + 1) : level === $to.depth ? $to.pos : $to.after(level + 1);
      if (isEmpty) tr.replaceWith(at, at + 2, node);
      else tr.insert(at, node);
      const end = at + node.nodeSize;
      if (tr.doc.resolve(end).nodeAfter === null) tr.insert(end, nodeType("paragraph").create());
      const inside = node.isTextblock || node.type === nodeType("table") ? at + 1 : end;
      tr.setSelection(TextSelection.near(tr.doc.resolve(inside), 1));
      dispatch(tr.scrollIntoView());
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

export const canInsertTable = (state: EditorState): boolean => !isInTable(state);

export const insertInline =
  (node: Node): Command =>
  (state, dispatch) => {
    const { $from } = state.selection;
    if (!$from.parent.inlineContent || !$from.parent.canReplaceWith($from.index(), $from.index(), node.type))
      return false;
    dispatch?.(state.tr.replaceSelectionWith(node, false).scrollIntoView());
    return true;
  };

/** The link at the cursor with its extent. */
export function linkAt({ selection, doc }: EditorState): { from: number; to: number; href: string } | undefined {
  const type = markType("link");
  const $at = doc.resolve(selection.from);
  const mark = type.isInSet($at.marks()) ?? ($at.nodeAfter === null ? undefined : type.isInSet($at.nodeAfter.marks));
  if (mark === undefined) return undefined;
  let from = $at.start();
  let found: { from: number; to: number } | undefined;
  $at.parent.forEach((node, offset) => {
    const start = $at.start() + offset;
    const end = start + node.nodeSize;
    if (!mark.isInSet(node.marks)) from = end;
    else if (end >= selection.from && start <= selection.from && from <= selection.from)
      found = { from: Math.min(from, start), to: end };
    else if (found !== undefined && found.to === start) found.to = end;
  });
  return found && { ...found, href: mark.attrs["href"] as string };
}

/** Sets the link of the selection, or of the link at the cursor. Without either, `text` is inserted. */
export const setLink =
  (href: string, text: string): Command =>
  (state, dispatch) => {
    const { tr, selection } = state;
    const mark = markType("link").create({ href });
    const known = linkAt(state);
    if (!selection.empty) tr.addMark(selection.from, selection.to, mark);
    else if (known !== undefined)
      tr.removeMark(known.from, known.to, markType("link")).addMark(known.from, known.to, mark);
    else tr.replaceSelectionWith(schema.text(text === "" ? href : text, [mark]), false).removeStoredMark(mark.type);
    dispatch?.(tr.scrollIntoView());
    return true;
  };

export const removeLink: Command = (state, dispatch) => {
  const known = linkAt(state);
  if (known === undefined) return false;
  dispatch?.(state.tr.removeMark(known.from, known.to, markType("link")));
  return true;
};

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

/** Whether the selection can be wrapped in a list. */
export const canBeList = ({ selection }: EditorState): boolean => {
  const range = selection.$from.blockRange(selection.$to);
  return range !== null && findWrapping(range, nodeType("bullet_list")) !== null;
};
