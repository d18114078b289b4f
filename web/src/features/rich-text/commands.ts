// Commands of rich texts that work with every schema that has the nodes and marks they name: `bullet_list`, `ordered_list`,
// `list_item`, `paragraph`, `blockquote`, `link`. Each returns whether it applies, and runs only with `dispatch`.
import { exitCode, lift, setBlockType, toggleMark, wrapIn } from "prosemirror-commands";
import type { Attrs, MarkType, Node, NodeType, Schema } from "prosemirror-model";
import { liftListItem, sinkListItem, splitListItem, wrapInList } from "prosemirror-schema-list";
import { type Command, type EditorState, TextSelection, type Transaction } from "prosemirror-state";

export type ListName = "bullet_list" | "ordered_list" | "check_list";
const LISTS: readonly string[] = ["bullet_list", "ordered_list", "check_list"];

type Position = EditorState["selection"]["$from"];

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

export const toggle =
  (name: string, attributes: Attrs | null = null): Command =>
  (state, dispatch) =>
    toggleMark(state.schema.marks[name]!, attributes, { removeWhenPresent: false })(state, dispatch);

export function isInside($at: Position, name: string): boolean {
  for (let { depth } = $at; depth > 0; depth -= 1) if ($at.node(depth).type.name === name) return true;
  return false;
}

export const toggleQuote: Command = (state, dispatch) =>
  isInside(state.selection.$from, "blockquote")
    ? lift(state, dispatch)
    : wrapIn(state.schema.nodes["blockquote"]!)(state, dispatch);

/** The innermost list around the cursor. */
export function listAround({ selection }: EditorState): ListName | undefined {
  for (let { depth } = selection.$from; depth > 0; depth -= 1) {
    const { name } = selection.$from.node(depth).type;
    if (LISTS.includes(name)) return name as ListName;
  }
  return undefined;
}

const itemOf = (schema: Schema, list: ListName): NodeType =>
  schema.nodes[list === "check_list" ? "check_item" : "list_item"]!;

/** Makes the selection a list, changes the kind of its list, or takes it out of the list if it has that kind already. */
export const toggleList =
  (list: ListName): Command =>
  (state, dispatch) => {
    const { schema } = state;
    const current = listAround(state);
    const wrap = wrapInList(schema.nodes[list]!);
    if (current === undefined) return headingsToParagraphs(wrap)(state, dispatch);
    const [item, wanted] = [itemOf(schema, current), itemOf(schema, list)];
    if (current === list) return liftListItem(item)(state, dispatch);
    if (item === wanted) return changeListType(list)(state, dispatch);
    // The items have another type. They leave their list and enter the new one, so that text which others type meanwhile stays.
    return chain(liftListItem(item), wrap)(state, dispatch);
  };

function changeListType(list: ListName): Command {
  return ({ tr, selection, schema }, dispatch) => {
    const { $from } = selection;
    for (let { depth } = $from; depth > 0; depth -= 1) {
      if (!["bullet_list", "ordered_list"].includes($from.node(depth).type.name)) continue;
      dispatch?.(tr.setNodeMarkup($from.before(depth), schema.nodes[list]!));
      return true;
    }
    return false;
  };
}

/** A list item begins with a paragraph, so selected headings become paragraphs first. */
function headingsToParagraphs(command: Command): Command {
  return (state, dispatch) =>
    command(state, dispatch) || chain(setBlockType(state.schema.nodes["paragraph"]!), command)(state, dispatch);
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

/** Runs a command for the first type of list items that it applies to. */
const forItem =
  (command: (item: NodeType) => Command): Command =>
  (state, dispatch, view) =>
    ["list_item", "check_item"].some((name) => {
      const item = state.schema.nodes[name];
      return item !== undefined && command(item)(state, dispatch, view);
    });

export const indent: Command = forItem(sinkListItem);
export const outdent: Command = forItem(liftListItem);
/** Enter in a list item. A new item of a checklist is not checked. */
export const splitItem: Command = forItem((item) =>
  splitListItem(item, item.name === "check_item" ? { checked: false } : undefined),
);

/** Shift-Enter: a line break inside a block, or the end of a code block. */
export const insertBreak: Command = (state, dispatch) => {
  if (exitCode(state, dispatch)) return true;
  const { hard_break: lineBreak } = state.schema.nodes;
  if (!state.selection.$from.parent.type.contentMatch.matchType(lineBreak!)) return false;
  dispatch?.(state.tr.replaceSelectionWith(lineBreak!.create()).scrollIntoView());
  return true;
};

/** Backspace at the beginning of a heading, quote or list item takes the format away first. */
export const removeBlockFormat =
  (toParagraph: Command): Command =>
  (state, dispatch) => {
    const { $from, empty } = state.selection;
    if (!empty || $from.parentOffset > 0) return false;
    if ($from.parent.type.name === "heading") return toParagraph(state, dispatch);
    return $from.depth > 1 && $from.index(-1) === 0 && outdent(state, dispatch);
  };

/** Inserts a block after the one with the cursor and puts the cursor behind it. */
export const insertBlock =
  (node: Node): Command =>
  (state, dispatch) => {
    const paragraph = state.schema.nodes["paragraph"]!;
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
      const isEmpty = $from.depth === level + 1 && inner.type === paragraph && inner.content.size === 0;
      const at = isEmpty ? $from.before(level + 1) : level === $to.depth ? $to.pos : $to.after(level + 1);
      if (isEmpty) tr.replaceWith(at, at + 2, node);
      else tr.insert(at, node);
      const end = at + node.nodeSize;
      if (tr.doc.resolve(end).nodeAfter === null) tr.insert(end, paragraph.create());
      const inside = node.isTextblock && node.content.size === 0;
      const isTable = node.type.name === "table";
      tr.setSelection(TextSelection.near(tr.doc.resolve(inside || isTable ? at + 1 : end), 1));
      dispatch(tr.scrollIntoView());
      return true;
    }
    return false;
  };

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
export function linkAt({
  selection,
  doc,
  schema,
}: EditorState): { from: number; to: number; href: string } | undefined {
  const type = schema.marks["link"]!;
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
    const { tr, selection, schema } = state;
    const type = schema.marks["link"]!;
    const mark = type.create({ href });
    const known = linkAt(state);
    if (!selection.empty) tr.addMark(selection.from, selection.to, mark);
    else if (known !== undefined) tr.removeMark(known.from, known.to, type).addMark(known.from, known.to, mark);
    else tr.replaceSelectionWith(schema.text(text === "" ? href : text, [mark]), false).removeStoredMark(type);
    dispatch?.(tr.scrollIntoView());
    return true;
  };

export const removeLink: Command = (state, dispatch) => {
  const known = linkAt(state);
  if (known === undefined) return false;
  dispatch?.(state.tr.removeMark(known.from, known.to, state.schema.marks["link"]!));
  return true;
};
