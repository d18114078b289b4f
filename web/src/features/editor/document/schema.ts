// The schema of documents: crates/rich-text/schema.json, which the service uses too, with the DOM of each node and mark.
import {
  type DOMOutputSpec,
  type MarkSpec,
  type NodeSpec,
  Schema,
  type SchemaSpec,
  type TagParseRule,
} from "prosemirror-model";

import { em, strong } from "../../rich-text/marks";
import spec from "../../../../../crates/rich-text/schema.json";

export type Align = "left" | "center" | "right" | "justify";
export const HIGHLIGHTS = ["yellow", "green", "blue", "pink", "red", "orange", "purple", "gray"] as const;
export const COLORS = ["black", "gray", "red", "orange", "green", "teal", "blue", "purple"] as const;

/** Limits of a document: a step beyond them is rejected by the service. */
export const LIMITS: { depth: number; size: number } = spec.limits;

const ALIGNS: readonly string[] = ["left", "center", "right", "justify"];

const alignOf = (element: HTMLElement): Align | null => {
  const align = element.style.textAlign || element.getAttribute("align") || "";
  return ALIGNS.includes(align) && align !== "left" ? (align as Align) : null;
};
const block = (element: HTMLElement) => ({ align: alignOf(element), style: element.dataset.style ?? null });
const blockDom = ({ align, style }: Record<string, unknown>) => ({
  ...(typeof align === "string" ? { style: `text-align: ${align}` } : {}),
  ...(typeof style === "string" ? { "data-style": style } : {}),
});

/** Whether an address may be a link target. The service applies the same rule. */
export const isLinkTarget = (href: string): boolean =>
  href.length <= 2_048 && /^(https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(href);

const span = (element: HTMLElement, name: "colspan" | "rowspan") => {
  const count = Number(element.getAttribute(name) ?? 1);
  return Number.isInteger(count) && count >= 1 && count <= 1_000 ? count : 1;
};
const cellAttributes = (element: HTMLElement) => ({
  colspan: span(element, "colspan"),
  rowspan: span(element, "rowspan"),
});
const cellDom =
  (name: "td" | "th"): NodeSpec["toDOM"] =>
  (node) => {
    const { colspan, rowspan } = node.attrs as { colspan: number; rowspan: number };
    return [name, { ...(colspan === 1 ? {} : { colspan }), ...(rowspan === 1 ? {} : { rowspan }) }, 0];
  };

const LIST_TYPES = { decimal: "1", lower_letter: "a", upper_letter: "A", lower_roman: "i", upper_roman: "I" } as const;
const listFormat = (type: string | null) =>
  Object.entries(LIST_TYPES).find(([, value]) => value === type)?.[0] ?? "decimal";

const island = (tag: "div" | "span"): Partial<NodeSpec> => ({
  toDOM: ({ attrs }): DOMOutputSpec => [
    tag,
    { "data-island": attrs["id"] as string, "data-kind": attrs["kind"] as string, class: "island" },
    attrs["label"] as string,
  ],
  parseDOM: [
    {
      tag: `${tag}[data-island]`,
      getAttrs: (element) => ({
        id: element.dataset.island,
        kind: element.dataset.kind ?? "other",
        label: element.textContent,
      }),
    },
  ],
});

const NODES: Record<string, Partial<NodeSpec>> = {
  paragraph: { parseDOM: [{ tag: "p", getAttrs: block }], toDOM: ({ attrs }) => ["p", blockDom(attrs), 0] },
  heading: {
    // A level is shown one lower than its name, because the page has its own first heading. Copies have the true level.
    parseDOM: [
      { tag: "[data-level]", getAttrs: (element) => ({ ...block(element), level: levelOf(element.dataset.level) }) },
      ...[1, 2, 3, 4, 5, 6].map((level): TagParseRule => ({
        tag: `h${level}`,
        getAttrs: (element) => ({ ...block(element), level: Math.min(level, 4) }),
      })),
    ],
    toDOM: ({ attrs }) => [`h${Number(attrs["level"]) + 1}`, { ...blockDom(attrs), "data-level": attrs["level"] }, 0],
  },
  blockquote: { parseDOM: [{ tag: "blockquote" }], toDOM: () => ["blockquote", 0] },
  code_block: {
    parseDOM: [{ tag: "pre", preserveWhitespace: "full" }],
    toDOM: () => ["pre", { spellcheck: "false" }, ["code", 0]],
  },
  bullet_list: { parseDOM: [{ tag: "ul" }], toDOM: () => ["ul", 0] },
  ordered_list: {
    parseDOM: [
      {
        tag: "ol",
        getAttrs: (element) => {
          const start = Number(element.getAttribute("start") ?? 1);
          return {
            start: Number.isInteger(start) && start >= 0 && start <= 1_000_000 ? start : 1,
            format: listFormat(element.getAttribute("type")),
          };
        },
      },
    ],
    toDOM: ({ attrs }) => [
      "ol",
      {
        ...(attrs["start"] === 1 ? {} : { start: attrs["start"] }),
        ...(attrs["format"] === "decimal" ? {} : { type: LIST_TYPES[attrs["format"] as keyof typeof LIST_TYPES] }),
      },
      0,
    ],
  },
  list_item: { parseDOM: [{ tag: "li" }], toDOM: () => ["li", 0] },
  check_list: {
    parseDOM: [{ tag: "ul[data-checklist]", priority: 60 }],
    toDOM: () => ["ul", { "data-checklist": "" }, 0],
  },
  check_item: {
    parseDOM: [
      { tag: "li[data-checked]", priority: 60, getAttrs: ({ dataset }) => ({ checked: dataset.checked === "true" }) },
    ],
    toDOM: ({ attrs }) => ["li", { "data-checked": String(attrs["checked"]) }, 0],
  },
  table: { parseDOM: [{ tag: "table" }], toDOM: () => ["div", { class: "table-scroll" }, ["table", ["tbody", 0]]] },
  table_row: { parseDOM: [{ tag: "tr" }], toDOM: () => ["tr", 0] },
  table_cell: { parseDOM: [{ tag: "td", getAttrs: cellAttributes }], toDOM: cellDom("td") },
  table_header: { parseDOM: [{ tag: "th", getAttrs: cellAttributes }], toDOM: cellDom("th") },
  horizontal_rule: { parseDOM: [{ tag: "hr" }], toDOM: () => ["hr"] },
  page_break: {
    parseDOM: [{ tag: "div[data-page-break]" }],
    toDOM: () => ["div", { "data-page-break": "", class: "page-break" }],
  },
  island_block: island("div"),
  island_inline: island("span"),
  hard_break: { parseDOM: [{ tag: "br" }], toDOM: () => ["br"], leafText: () => "\n" },
  image: {
    // Only images of this document: an address of another server is never stored.
    parseDOM: [
      {
        tag: "img[data-image]",
        getAttrs: (element) => ({
          src: element.dataset.image,
          alt: (element.getAttribute("alt") ?? "").slice(0, 2_000),
          width: pixels(element.getAttribute("width")),
          height: pixels(element.getAttribute("height")),
        }),
      },
    ],
    toDOM: ({ attrs }) => [
      "img",
      {
        "data-image": attrs["src"],
        alt: attrs["alt"],
        ...(attrs["width"] === null ? {} : { width: attrs["width"] }),
        ...(attrs["height"] === null ? {} : { height: attrs["height"] }),
      },
    ],
  },
  footnote: {
    parseDOM: [
      { tag: "span[data-footnote]", getAttrs: ({ dataset }) => ({ text: (dataset.footnote ?? "").slice(0, 10_000) }) },
    ],
    toDOM: ({ attrs }) => ["span", { "data-footnote": attrs["text"], class: "footnote" }],
  },
};

const levelOf = (text: string | undefined) => Math.min(4, Math.max(1, Math.trunc(Number(text)) || 1));
const pixels = (text: string | null) => {
  const count = Math.round(Number(text));
  return text !== null && count >= 1 && count <= 20_000 ? count : null;
};

const oneOf = (colors: readonly string[], color: string | undefined) =>
  color !== undefined && colors.includes(color) ? { color } : false;

const MARKS: Record<string, Partial<MarkSpec>> = {
  link: {
    parseDOM: [
      {
        tag: "a[href]",
        getAttrs: (element) => {
          const href = element.getAttribute("href") ?? "";
          return isLinkTarget(href) ? { href } : false;
        },
      },
    ],
    toDOM: ({ attrs }) => ["a", { href: attrs["href"], rel: "noopener noreferrer nofollow", target: "_blank" }, 0],
  },
  strong,
  em,
  underline: {
    parseDOM: [{ tag: "u" }, { style: "text-decoration=underline" }, { style: "text-decoration-line=underline" }],
    toDOM: () => ["u", 0],
  },
  strike: {
    parseDOM: [
      { tag: "s" },
      { tag: "del" },
      { tag: "strike" },
      { style: "text-decoration=line-through" },
      { style: "text-decoration-line=line-through" },
    ],
    toDOM: () => ["s", 0],
  },
  superscript: { parseDOM: [{ tag: "sup" }, { style: "vertical-align=super" }], toDOM: () => ["sup", 0] },
  subscript: { parseDOM: [{ tag: "sub" }, { style: "vertical-align=sub" }], toDOM: () => ["sub", 0] },
  highlight: {
    parseDOM: [
      { tag: "mark[data-highlight]", getAttrs: ({ dataset }) => oneOf(HIGHLIGHTS, dataset.highlight), priority: 60 },
      { tag: "mark" },
    ],
    toDOM: ({ attrs }) => ["mark", { "data-highlight": attrs["color"] }, 0],
  },
  color: {
    parseDOM: [{ tag: "span[data-color]", getAttrs: ({ dataset }) => oneOf(COLORS, dataset.color) }],
    toDOM: ({ attrs }) => ["span", { "data-color": attrs["color"] }, 0],
  },
  code: { parseDOM: [{ tag: "code" }], toDOM: () => ["code", { spellcheck: "false" }, 0] },
};

const withDom = <T extends object>(own: Record<string, T>, dom: Record<string, Partial<T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(own).map(([name, node]) => [name, { ...node, ...dom[name] }]));

export const schema = new Schema({
  topNode: spec.topNode,
  nodes: withDom(spec.nodes as Record<string, NodeSpec>, NODES),
  marks: withDom(spec.marks as Record<string, MarkSpec>, MARKS),
} as SchemaSpec<string, string>);

type NodeName = keyof typeof spec.nodes;
type MarkName = keyof typeof spec.marks;
export const nodeType = (name: NodeName) => schema.nodes[name]!;
export const markType = (name: MarkName) => schema.marks[name]!;
