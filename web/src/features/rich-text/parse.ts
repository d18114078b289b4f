// Reads Markdown into the schema. What the schema cannot represent keeps its source: a block as a whole, or a part of a line.
import type { BlockContent, DefinitionContent, List, ListItem, PhrasingContent, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import type { Mark, Node } from "prosemirror-model";

import { markType, nodeType, schema } from "./schema";
import { serializeBlocks } from "./serialize";

/** A block of the document with the range of its source. */
export interface SourceBlock {
  node: Node;
  start: number;
  end: number;
}

export interface ParsedText {
  doc: Node;
  blocks: readonly SourceBlock[];
}

/** Thrown for content without an equivalent in the schema. */
class UnsupportedContent extends Error {}

/** A table of another dialect: a paragraph for the renderer, but its lines must not be joined. */
const TABLE = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$/m;

/** Reads a text. Each block is compared with what its serialization is read as; if it differs, the block keeps its source. */
export function parseMarkdown(text: string): ParsedText {
  const { children } = fromMarkdown(text);
  const blocks = children.map((child) => {
    const end = child.position!.end.offset!;
    let start = child.position!.start.offset!;
    // The indentation of a list belongs to it: its other lines may have it, too.
    while (child.type === "list" && start > 0 && (text[start - 1] === " " || text[start - 1] === "\t")) start -= 1;
    return { node: readBlock(child, text) ?? rawBlock(text.slice(start, end)), start, end };
  });
  const definitions = children.flatMap((child) => sourcesOfDefinitions(child, text)).join("\n");
  for (const block of blocks)
    if (block.node.type !== nodeType("raw_block") && !isReproducible(block.node, definitions))
      block.node = rawBlock(text.slice(block.start, block.end));
  const nodes = blocks.map(({ node }) => node);
  return { doc: schema.node("doc", null, nodes.length === 0 ? [nodeType("paragraph").create()] : nodes), blocks };
}

const rawBlock = (source: string): Node => nodeType("raw_block").create({ source });

function isReproducible(node: Node, definitions: string): boolean {
  const text = `${serializeBlocks([node])}\n\n${definitions}`;
  const [first, ...others] = fromMarkdown(text).children;
  if (first === undefined || others.some(({ type }) => type !== "definition")) return false;
  return readBlock(first, text)?.eq(node) === true;
}

function sourcesOfDefinitions(node: RootContent, text: string): string[] {
  if (node.type === "definition") return [sourceOf(node, text)];
  return "children" in node ? node.children.flatMap((child) => sourcesOfDefinitions(child, text)) : [];
}

const sourceOf = ({ position }: RootContent, text: string): string =>
  text.slice(position!.start.offset, position!.end.offset);

/** Reads a top-level block; undefined if it keeps its source. */
function readBlock(child: RootContent, text: string): Node | undefined {
  if (child.type === "paragraph" && TABLE.test(sourceOf(child, text))) return undefined;
  try {
    return blockOf(child as BlockContent | DefinitionContent, text);
  } catch (error) {
    if (error instanceof UnsupportedContent) return undefined;
    throw error;
  }
}

function blockOf(block: BlockContent | DefinitionContent, text: string): Node {
  switch (block.type) {
    case "paragraph":
      return nodeType("paragraph").create(null, inlinesOf(block.children, text));
    case "heading": {
      const content = inlinesOf(block.children, text);
      if (content.some(({ type }) => type === nodeType("hard_break"))) throw new UnsupportedContent();
      return nodeType("heading").create({ level: block.depth }, content);
    }
    case "blockquote":
      return nodeType("blockquote").create(null, blocksOf(block.children, text));
    case "code":
      return nodeType("code_block").create(
        { lang: block.lang ?? null, meta: block.meta ?? null },
        block.value === "" ? [] : schema.text(block.value),
      );
    case "list":
      return listOf(block, text);
    case "thematicBreak":
      return nodeType("horizontal_rule").create();
    case "html":
      return rawBlock(block.value);
    case "definition":
      return rawBlock(singleLine(sourceOf(block, text)));
    default:
      throw new UnsupportedContent();
  }
}

/** The children of a quote or list item, which has at least one block here. */
function blocksOf(children: readonly (BlockContent | DefinitionContent)[], text: string): Node[] {
  return children.length === 0 ? [nodeType("paragraph").create()] : children.map((child) => blockOf(child, text));
}

function listOf(list: List, text: string): Node {
  const tight = list.spread !== true && list.children.every(({ spread }) => spread !== true);
  const items = list.children.map((item: ListItem) =>
    nodeType("list_item").create(null, blocksOf(item.children, text)),
  );
  return list.ordered === true
    ? nodeType("ordered_list").create({ tight, start: list.start ?? 1 }, items)
    : nodeType("bullet_list").create({ tight }, items);
}

/** A part of a line keeps its source; several lines of a container contain its marks, so that the whole block keeps it. */
function singleLine(source: string): string {
  if (source.includes("\n")) throw new UnsupportedContent();
  return source;
}

const rawInline = (source: string, marks: readonly Mark[]): Node =>
  nodeType("raw_inline").create({ source: singleLine(source) }, null, marks);

function inlinesOf(children: readonly PhrasingContent[], text: string, marks: readonly Mark[] = []): Node[] {
  return children.flatMap((child, index): Node[] => {
    const within = (mark: Mark): Node[] =>
      inlinesOf((child as { children: PhrasingContent[] }).children, text, mark.addToSet(marks));
    switch (child.type) {
      case "text": {
        // A line break in the source is a space on the page; a space at the end of a line is none.
        const isLast = children[index + 1]?.type === "break";
        const value = (isLast ? child.value.replace(/[ \t]+$/, "") : child.value).replaceAll("\n", " ");
        return value === "" ? [] : [schema.text(value, marks)];
      }
      case "emphasis":
        return within(markType("em").create());
      case "strong":
        return within(markType("strong").create());
      case "link": {
        const content = within(markType("link").create({ href: child.url, title: child.title ?? null }));
        return content.length === 0 ? [rawInline(sourceOf(child, text), marks)] : content;
      }
      case "inlineCode":
        return child.value === ""
          ? []
          : [schema.text(child.value.replaceAll("\n", " "), markType("code").create().addToSet(marks))];
      case "break":
        return [nodeType("hard_break").create(null, null, marks)];
      case "image":
        return [
          nodeType("image").create({ src: child.url, alt: child.alt ?? "", title: child.title ?? null }, null, marks),
        ];
      case "html":
        return [rawInline(child.value, marks)];
      default:
        return [rawInline(sourceOf(child, text), marks)];
    }
  });
}
