// Writes the schema as Markdown.
import type { BlockContent, DefinitionContent, List, ListItem, PhrasingContent } from "mdast";
import { type Options, toMarkdown } from "mdast-util-to-markdown";
import type { Mark, Node } from "prosemirror-model";

import type { ParsedText } from "./parse";
import { markType, nodeType } from "./schema";

const OPTIONS: Options = { bullet: "-", emphasis: "*", fences: true, listItemIndent: "one", rule: "-" };

/** Markdown of blocks. */
export function serializeBlocks(blocks: readonly Node[]): string {
  return toMarkdown({ type: "root", children: blocks.filter(hasContent).map(blockOf) }, OPTIONS).replace(/\n$/, "");
}

/** Markdown has no empty paragraphs. */
const hasContent = (node: Node): boolean => node.type !== nodeType("paragraph") || inlinesOf(node).length > 0;

/**
 * Writes a document that was read from `text`. Blocks that did not change keep their source, with the white space between
 * them; a document that did not change is the text itself.
 */
export function serializeMarkdown(doc: Node, text: string, original: ParsedText): string {
  if (doc.eq(original.doc)) return text;
  const nodes: Node[] = [];
  doc.forEach((node) => void (hasContent(node) && nodes.push(node)));
  const kept = keptBlocks(nodes, text, original);
  let markdown = "";
  for (let index = 0; index < nodes.length;) {
    let end = index + 1;
    const block = kept[index];
    let source: string;
    if (block === undefined) {
      // Neighbors are written together, because lists next to each other need different marks.
      while (end < nodes.length && kept[end] === undefined) end += 1;
      source = serializeBlocks(nodes.slice(index, end));
    } else {
      const { start, end: stop } = original.blocks[block]!;
      source = text.slice(start, stop);
    }
    markdown += gapBefore(index, kept, text, original) + source;
    index = end;
  }
  const last = kept.at(-1);
  return last !== undefined && last === original.blocks.length - 1
    ? markdown + text.slice(original.blocks[last]!.end)
    : markdown;
}

/** What separates a block from the one before it: what separated them in the source, or a blank line. */
function gapBefore(index: number, kept: readonly (number | undefined)[], text: string, { blocks }: ParsedText): string {
  const block = kept[index];
  if (index === 0) return block === 0 ? text.slice(0, blocks[0]!.start) : "";
  const before = kept[index - 1];
  return block !== undefined && before === block - 1 ? text.slice(blocks[before]!.end, blocks[block]!.start) : "\n\n";
}

/** The index of the unchanged source of each node; undefined for nodes that must be serialized again. */
function keptBlocks(nodes: readonly Node[], text: string, { blocks }: ParsedText): (number | undefined)[] {
  const byNode = new Map(blocks.map(({ node }, index) => [node, index]));
  let expected = 0;
  const kept = nodes.map((node) => {
    // After an undo, an equal node is in the place of the original one. The next block in order is preferred among equal ones.
    const isNext = blocks[expected]?.node.eq(node) === true;
    const found = isNext ? expected : (byNode.get(node) ?? blocks.findIndex((block) => block.node.eq(node)));
    if (found !== -1) expected = found + 1;
    return found === -1 ? undefined : found;
  });
  const isInOrder = (index: number) => {
    const [before, block] = [kept[index - 1], kept[index]];
    return before !== undefined && block !== undefined && before === block - 1;
  };
  for (let index = 1; index < nodes.length; index += 1) {
    const block = kept[index];
    // An indented block would belong to a list that is before it now.
    const isIndented = block !== undefined && /^[ \t]/.test(text.slice(blocks[block]!.start));
    if (isIndented && isList(nodes[index - 1]!) && !isInOrder(index)) kept[index] = undefined;
  }
  // Lists of the same kind next to each other would be one list, unless both are written together.
  const areSeparate = (index: number) =>
    !isList(nodes[index]!) || nodes[index]!.type !== nodes[index - 1]!.type || isInOrder(index);
  for (let isStable = false; !isStable;) {
    isStable = true;
    for (let index = 1; index < nodes.length; index += 1) {
      if (areSeparate(index) || (kept[index] === undefined && kept[index - 1] === undefined)) continue;
      kept[index] = undefined;
      kept[index - 1] = undefined;
      isStable = false;
    }
  }
  return kept;
}

const isList = ({ type }: Node): boolean => type === nodeType("bullet_list") || type === nodeType("ordered_list");

const childrenOf = (node: Node): Node[] => {
  const children: Node[] = [];
  node.forEach((child) => void children.push(child));
  return children;
};

const blocksOf = (node: Node): (BlockContent | DefinitionContent)[] => childrenOf(node).filter(hasContent).map(blockOf);

function blockOf(node: Node): BlockContent | DefinitionContent {
  switch (node.type.name) {
    case "heading":
      return { type: "heading", depth: node.attrs["level"] as 1 | 2 | 3 | 4 | 5 | 6, children: inlinesOf(node) };
    case "blockquote":
      return { type: "blockquote", children: blocksOf(node) };
    case "code_block":
      return {
        type: "code",
        lang: node.attrs["lang"] as string | null,
        meta: node.attrs["meta"] as string | null,
        value: node.textContent,
      };
    case "bullet_list":
    case "ordered_list":
      return listOf(node);
    case "horizontal_rule":
      return { type: "thematicBreak" };
    case "raw_block":
      return { type: "html", value: node.attrs["source"] as string };
    default:
      return { type: "paragraph", children: inlinesOf(node) };
  }
}

function listOf(node: Node): List {
  const isOrdered = node.type === nodeType("ordered_list");
  const spread = node.attrs["tight"] !== true;
  return {
    type: "list",
    ordered: isOrdered,
    ...(isOrdered ? { start: node.attrs["start"] as number } : {}),
    spread,
    children: childrenOf(node).map((item): ListItem => ({ type: "listItem", spread, children: blocksOf(item) })),
  };
}

/** A part of a line: a text without white space at its ends, white space, or another inline node. */
interface Piece {
  node: Node;
  text: string | undefined;
  marks: readonly Mark[];
}

const isCode = (mark: Mark): boolean => mark.type === markType("code");
/** White space, or a line break: neither is at an end of bold or italic text. */
const isBlank = ({ node, text, marks }: Piece): boolean =>
  text === undefined ? node.type === nodeType("hard_break") : !marks.some(isCode) && text.trim() === "";

function inlinesOf(block: Node): PhrasingContent[] {
  let pieces = childrenOf(block).flatMap((node): Piece[] => {
    const { marks } = node;
    if (!node.isText) return [{ node, text: undefined, marks }];
    const text = node.text!;
    const parts = marks.some(isCode) ? [text] : (/^(\s*)(.*?)(\s*)$/s.exec(text)?.slice(1) ?? [text]);
    return parts.filter((part) => part !== "").map((part) => ({ node, text: part, marks }));
  });
  pieces = trim(pieces);
  for (const type of [markType("em"), markType("strong")]) pieces = withoutBlankEnds(pieces, type.name);
  return nest(pieces);
}

/** Removes line breaks at the end, and white space at both ends of a line: Markdown has neither. */
function trim(pieces: readonly Piece[]): Piece[] {
  const isSpace = ({ text, marks }: Piece) => text !== undefined && !marks.some(isCode) && /^[ \t\n]*$/.test(text);
  const isBreak = (piece: Piece | undefined) => piece === undefined || piece.node.type === nodeType("hard_break");
  const kept: Piece[] = [];
  for (const piece of pieces) {
    if (isSpace(piece) && isBreak(kept.at(-1))) continue;
    // HTML at the beginning of a line could become a block.
    const last = kept.at(-1);
    if (piece.node.type === nodeType("raw_inline") && last !== undefined && isBreak(last))
      kept[kept.length - 1] = { ...last, text: " ", marks: [] };
    if (isBreak(piece)) while (kept.length > 0 && isSpace(kept.at(-1)!)) kept.pop();
    kept.push(piece);
  }
  while (kept.length > 0 && (isSpace(kept.at(-1)!) || isBreak(kept.at(-1)))) kept.pop();
  return kept;
}

/** Removes a mark from white space at the ends of its range, where Markdown does not allow it. */
function withoutBlankEnds(pieces: readonly Piece[], name: string): Piece[] {
  const has = (piece: Piece | undefined) => piece?.marks.some(({ type }) => type.name === name) === true;
  const isInside = (index: number, step: 1 | -1): boolean => {
    let at = index;
    while (pieces[at] !== undefined && isBlank(pieces[at]!) && has(pieces[at])) at += step;
    return has(pieces[at]);
  };
  return pieces.map((piece, index) =>
    !isBlank(piece) || !has(piece) || (isInside(index, 1) && isInside(index, -1))
      ? piece
      : { ...piece, marks: piece.marks.filter(({ type }) => type.name !== name) },
  );
}

/** Marks of a range become nodes around it; of several marks, the one with the longest range is the outermost. */
function nest(pieces: readonly Piece[]): PhrasingContent[] {
  const nodes: PhrasingContent[] = [];
  for (let index = 0; index < pieces.length;) {
    const piece = pieces[index]!;
    let end = index;
    let outer: Mark | undefined;
    for (const mark of piece.marks) {
      if (isCode(mark)) continue;
      let stop = index;
      while (stop < pieces.length && mark.isInSet(pieces[stop]!.marks)) stop += 1;
      if (stop > end) [end, outer] = [stop, mark];
    }
    if (outer === undefined) {
      nodes.push(leafOf(piece));
      index += 1;
    } else {
      const mark = outer;
      const inner = nest(pieces.slice(index, end).map((one) => ({ ...one, marks: mark.removeFromSet(one.marks) })));
      nodes.push(wrap(mark, inner));
      index = end;
    }
  }
  return joinTexts(nodes);
}

function wrap({ type, attrs }: Mark, children: PhrasingContent[]): PhrasingContent {
  if (type === markType("link"))
    return {
      type: "link",
      url: attrs["href"] as string,
      title: attrs["title"] as string | null,
      children: children as Extract<PhrasingContent, { type: "link" }>["children"],
    };
  return { type: type === markType("strong") ? "strong" : "emphasis", children };
}

function leafOf({ node, text, marks }: Piece): PhrasingContent {
  if (text !== undefined)
    return marks.some(isCode) ? { type: "inlineCode", value: text } : { type: "text", value: text };
  const { attrs } = node;
  switch (node.type.name) {
    case "hard_break":
      return { type: "break" };
    case "image":
      return {
        type: "image",
        url: attrs["src"] as string,
        alt: attrs["alt"] as string,
        title: attrs["title"] as string | null,
      };
    default:
      return { type: "html", value: attrs["source"] as string };
  }
}

/** Texts next to each other are one, so that what they form together is escaped. */
function joinTexts(nodes: readonly PhrasingContent[]): PhrasingContent[] {
  const joined: PhrasingContent[] = [];
  for (const node of nodes) {
    const last = joined.at(-1);
    if (node.type === "text" && last?.type === "text")
      joined[joined.length - 1] = { type: "text", value: last.value + node.value };
    else joined.push(node);
  }
  return joined;
}
