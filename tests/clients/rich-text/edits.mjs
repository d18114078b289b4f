/** Random edits, made by the official commands and transformations. */
import { Fragment, Slice } from 'prosemirror-model';
import { EditorState, NodeSelection, TextSelection } from 'prosemirror-state';
import { canJoin, canSplit, findWrapping, joinPoint, liftTarget, ReplaceStep } from 'prosemirror-transform';
import * as commands from 'prosemirror-commands';
import { liftListItem, sinkListItem, splitListItem, wrapInList } from 'prosemirror-schema-list';
import * as tables from 'prosemirror-tables';
import * as make from './documents.mjs';
import { schema } from './schema.mjs';

const { nodes, marks } = schema;
// Beyond this depth, nothing is nested further.
const DEEPEST = 24;

/** A position that is not inside a surrogate pair. */
export function boundary(doc, position) {
  const resolved = doc.resolve(position);
  if (!resolved.textOffset) return position;
  const { text } = resolved.parent.child(resolved.index());
  const before = text.charCodeAt(resolved.textOffset - 1);
  const after = text.charCodeAt(resolved.textOffset);
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000 ? position - 1 : position;
}

/** Where authors who disturb each other edit; null for the whole document. */
let focus = null;

export function setFocus(position) {
  focus = position;
}

export function anyPosition(random, doc) {
  const { size } = doc.content;
  if (focus === null || random.chance(0.1)) return boundary(doc, random.below(size + 1));
  return boundary(doc, Math.max(0, Math.min(size, focus + random.below(31) - 15)));
}

export function anyRange(random, doc) {
  const from = anyPosition(random, doc);
  const longest = random.chance(0.7) ? 20 : random.chance(0.8) ? 120 : doc.content.size;
  return [from, boundary(doc, Math.max(from, Math.min(doc.content.size, from + random.below(longest + 1))))];
}

/** A position in a block of text, if there is one nearby. */
function textPosition(random, doc) {
  const found = TextSelection.near(doc.resolve(anyPosition(random, doc)));
  const { from, to } = found;
  return boundary(doc, random.chance(0.5) ? from : to);
}

function nodePositions(doc, accepts) {
  const found = [];
  doc.descendants((node, position) => {
    if (accepts(node)) found.push(position);
  });
  return found;
}

function withSelection(random, doc) {
  const state = EditorState.create({ doc });
  const from = textPosition(random, doc);
  const to = random.chance(0.5) ? from : textPosition(random, doc);
  return state.apply(state.tr.setSelection(TextSelection.between(doc.resolve(from), doc.resolve(to))));
}

function withCells(random, doc) {
  const cells = nodePositions(doc, (node) => node.type.spec.tableRole?.endsWith('cell'));
  if (!cells.length) return null;
  const state = EditorState.create({ doc });
  const anchor = random.pick(cells);
  const inTable = doc.resolve(anchor);
  const sameTable = cells.filter((cell) => {
    const other = doc.resolve(cell);
    return other.depth === inTable.depth && other.depth >= 1 && other.start(-1) === inTable.start(-1);
  });
  const selection = tables.CellSelection.create(doc, anchor, random.pick(sameTable));
  return state.apply(state.tr.setSelection(selection));
}

function run(command, state) {
  let steps = [];
  command(state, (transaction) => {
    steps = transaction.steps;
  });
  return steps;
}

function transform(doc, change) {
  const { tr } = EditorState.create({ doc });
  change(tr);
  return tr.steps;
}

const typing = (random, doc) =>
  transform(doc, (tr) => {
    const position = textPosition(random, doc);
    const length = 1 + random.below(4);
    let at = position;
    for (let index = 0; index < length; index += 1) {
      const typed = make.text(random, 1);
      if (!tr.doc.resolve(at).parent.inlineContent) return;
      tr.insertText(typed, at);
      at += typed.length;
    }
    if (random.chance(0.2)) tr.delete(boundary(tr.doc, Math.max(position, at - 2)), at);
  });

const deletion = (random, doc) =>
  transform(doc, (tr) => {
    const [from, to] = anyRange(random, doc);
    const way = random.pick(['delete', 'deleteRange', 'deleteRange']);
    tr[way](from, to);
  });

const split = (random, doc) =>
  transform(doc, (tr) => {
    const position = textPosition(random, doc);
    const depth = 1 + random.below(2);
    if (canSplit(doc, position, depth)) tr.split(position, depth);
  });

const join = (random, doc) =>
  transform(doc, (tr) => {
    const point = joinPoint(doc, anyPosition(random, doc), random.pick([-1, 1]));
    if (point !== undefined && point !== null && canJoin(doc, point)) tr.join(point);
  });

const markRange = (random, doc) =>
  transform(doc, (tr) => {
    const [from, to] = anyRange(random, doc);
    switch (random.below(4)) {
      case 0:
        return tr.removeMark(from, to);
      case 1:
        return tr.removeMark(from, to, random.pick(Object.values(marks)));
      default:
        return tr.addMark(from, to, make.mark(random));
    }
  });

const nodeMark = (random, doc) =>
  transform(doc, (tr) => {
    const atoms = nodePositions(doc, (node) => node.isInline && !node.isText);
    if (!atoms.length) return;
    const at = random.pick(atoms);
    const present = doc.nodeAt(at).marks;
    if (present.length && random.chance(0.5)) tr.removeNodeMark(at, random.pick(present));
    else tr.addNodeMark(at, make.mark(random));
  });

const list = (random, doc) => {
  const state = withSelection(random, doc);
  if (state.selection.$from.depth > DEEPEST) return [];
  const item = random.pick([nodes.list_item, nodes.check_item]);
  const command = random.pick([
    wrapInList(nodes.bullet_list),
    wrapInList(nodes.ordered_list, { start: 2 }),
    wrapInList(nodes.check_list),
    splitListItem(item),
    liftListItem(item),
    sinkListItem(item),
  ]);
  return run(command, state);
};

const wrap = (random, doc) =>
  transform(doc, (tr) => {
    const [from, to] = anyRange(random, doc);
    const range = doc.resolve(from).blockRange(doc.resolve(to));
    if (!range) return;
    if (random.chance(0.5)) {
      const wrapping = range.depth < DEEPEST && findWrapping(range, random.pick([nodes.blockquote, nodes.bullet_list, nodes.check_list]));
      if (wrapping) tr.wrap(range, wrapping);
    } else {
      const target = liftTarget(range);
      if (target !== null) tr.lift(range, target);
    }
  });

const blockType = (random, doc) =>
  transform(doc, (tr) => {
    const [from, to] = anyRange(random, doc);
    const [type, attrs] = random.pick([
      [nodes.paragraph, make.textBlockAttrs(random)],
      [nodes.heading, { level: 1 + random.below(4) }],
      [nodes.code_block, null],
    ]);
    tr.setBlockType(from, to, type, attrs);
  });

const attribute = (random, doc) =>
  transform(doc, (tr) => {
    if (random.chance(0.1)) {
      tr.setDocAttribute('language', random.pick([null, 'fr', 'de-CH']));
      return;
    }
    const at = random.pick(nodePositions(doc, (node) => !node.isText && Object.keys(node.attrs).length));
    const node = at === undefined ? null : doc.nodeAt(at);
    if (!node) return;
    if (node.type === nodes.image) {
      if (random.chance(0.5)) tr.setNodeMarkup(at, null, make.imageAttrs(random));
      else tr.setNodeAttribute(at, 'alt', make.text(random));
    } else if (node.type === nodes.check_item) tr.setNodeAttribute(at, 'checked', !node.attrs.checked);
    else if (node.isTextblock && 'align' in node.attrs) tr.setNodeAttribute(at, 'align', random.pick([null, 'center']));
    else if ('source' in node.attrs) tr.setNodeAttribute(at, 'source', random.below(99));
  });

const paste = (random, doc) =>
  transform(doc, (tr) => {
    const [from, to] = anyRange(random, doc);
    if (doc.resolve(from).depth > DEEPEST) return;
    const [copiedFrom, copiedTo] = anyRange(random, doc);
    const slice = random.chance(0.7)
      ? doc.slice(copiedFrom, copiedTo)
      : Slice.maxOpen(Fragment.from(make.block(random)));
    if (slice.size > 300) return;
    const way = random.pick(['replace', 'replaceRange']);
    tr[way](from, random.chance(0.5) ? from : to, slice);
  });

const insertion = (random, doc) =>
  transform(doc, (tr) => {
    const position = anyPosition(random, doc);
    if (doc.resolve(position).depth > DEEPEST) return;
    const node = random.chance(0.4) ? make.inlineAtom(random) : make.block(random, 2);
    if (random.chance(0.5)) tr.replaceRangeWith(position, position, node);
    else tr.insert(position, node);
  });

const table = (random, doc) => {
  const state = withCells(random, doc);
  if (!state) return transform(doc, (tr) => tr.replaceRangeWith(0, 0, make.table(random, 2)));
  // The commands expect rectangular tables, which the plugin of the editor restores after each edit.
  const fixed = tables.fixTables(state);
  if (fixed) return fixed.steps;
  const command = random.pick([
    tables.addColumnAfter,
    tables.addColumnBefore,
    tables.addRowAfter,
    tables.addRowBefore,
    tables.deleteColumn,
    tables.deleteRow,
    tables.mergeCells,
    tables.mergeCells,
    tables.splitCell,
    tables.toggleHeaderRow,
    tables.toggleHeaderColumn,
    tables.toggleHeaderCell,
    tables.setCellAttr('colwidth', [50 + random.below(50)]),
    tables.deleteCellSelection,
    tables.deleteTable,
  ]);
  return run(command, state);
};

const key = (random, doc) => {
  const state = withSelection(random, doc);
  const command = random.pick([
    commands.joinBackward,
    commands.joinForward,
    commands.deleteSelection,
    commands.splitBlock,
    commands.liftEmptyBlock,
    commands.createParagraphNear,
    commands.newlineInCode,
    commands.exitCode,
    commands.joinUp,
    commands.joinDown,
    commands.lift,
    commands.toggleMark(marks.strong),
    commands.setBlockType(nodes.heading, { level: 2 }),
  ]);
  return run(command, state);
};

const move = (random, doc) =>
  transform(doc, (tr) => {
    const movable = nodePositions(doc, (node) => !node.isText && NodeSelection.isSelectable(node) && node.nodeSize < 100);
    if (!movable.length) return;
    const from = random.pick(movable);
    const node = doc.nodeAt(from);
    tr.delete(from, from + node.nodeSize);
    const to = anyPosition(random, tr.doc);
    if (tr.doc.resolve(to).depth <= DEEPEST) tr.replaceRange(to, to, new Slice(Fragment.from(node), 0, 0));
  });

/** Any range replaced with any other: most of these do not apply. */
export function arbitraryStep(random, doc) {
  const [from, to] = anyRange(random, doc);
  const slice = doc.slice(...anyRange(random, doc));
  return new ReplaceStep(from, to, slice.size > 300 ? Slice.empty : slice, random.chance(0.2));
}

const edits = [
  ...Array(6).fill(typing),
  ...Array(2).fill(deletion),
  ...Array(2).fill(split),
  join,
  ...Array(3).fill(markRange),
  nodeMark,
  ...Array(2).fill(list),
  ...Array(2).fill(wrap),
  blockType,
  attribute,
  ...Array(2).fill(paste),
  insertion,
  ...Array(2).fill(table),
  ...Array(3).fill(key),
  move,
];

/** The steps of one random edit; may be empty. */
export function edit(random, doc) {
  // Keeps documents at the size of a few pages.
  if (doc.content.size > 3000) return transform(doc, (tr) => tr.delete(0, anyPosition(random, doc)));
  try {
    return random.pick(edits)(random, doc);
  } catch {
    // Some commands throw where they should do nothing, for example `toggleHeaderCell` in a table in a table.
    return [];
  }
}
