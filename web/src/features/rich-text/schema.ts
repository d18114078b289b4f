// The schema of Markdown texts: what `components/Markdown.tsx` renders, and elements that keep their source.
import { type Attrs, type MarkSpec, type NodeSpec, Schema, type TagParseRule } from "prosemirror-model";

import { safeAddress } from "../../components/markdownAddress";
import { isWebAddress } from "../../forms/markdownEdits";
import { em, strong } from "./marks";

/** Attributes that are written only if they have a value. */
const present = (attributes: Attrs): Attrs =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null && value !== ""));

const nodes = {
  doc: { content: "block+" },
  paragraph: { content: "inline*", group: "block", parseDOM: [{ tag: "p" }], toDOM: () => ["p", 0] },
  heading: {
    // A heading of Markdown is one line.
    content: "(text | image | raw_inline)*",
    group: "block",
    defining: true,
    attrs: { level: { default: 2, validate: "number" } },
    parseDOM: [1, 2, 3, 4, 5, 6].map((level): TagParseRule => ({ tag: `h${level}`, attrs: { level } })),
    toDOM: ({ attrs }) => [`h${String(attrs["level"])}`, 0],
  },
  blockquote: {
    content: "block+",
    group: "block",
    defining: true,
    parseDOM: [{ tag: "blockquote" }],
    toDOM: () => ["blockquote", 0],
  },
  code_block: {
    content: "text*",
    marks: "",
    group: "block",
    code: true,
    defining: true,
    attrs: { lang: { default: null }, meta: { default: null } },
    parseDOM: [{ tag: "pre", preserveWhitespace: "full" }],
    toDOM: () => ["pre", { spellcheck: "false" }, ["code", 0]],
  },
  bullet_list: {
    content: "list_item+",
    group: "block",
    // A list whose items are not separated by blank lines.
    attrs: { tight: { default: true, validate: "boolean" } },
    parseDOM: [{ tag: "ul" }],
    toDOM: () => ["ul", 0],
  },
  ordered_list: {
    content: "list_item+",
    group: "block",
    attrs: { tight: { default: true, validate: "boolean" }, start: { default: 1, validate: "number" } },
    parseDOM: [{ tag: "ol", getAttrs: (element) => ({ start: startOf(element) }) }],
    toDOM: ({ attrs }) => ["ol", attrs["start"] === 1 ? {} : { start: attrs["start"] as number }, 0],
  },
  list_item: { content: "block+", defining: true, parseDOM: [{ tag: "li" }], toDOM: () => ["li", 0] },
  horizontal_rule: { group: "block", parseDOM: [{ tag: "hr" }], toDOM: () => ["hr"] },
  raw_block: {
    // Markdown without an equivalent here. It stays as it was written.
    group: "block",
    atom: true,
    attrs: { source: { validate: "string" } },
    parseDOM: [{ tag: "pre[data-source]", priority: 60, getAttrs: ({ dataset }) => ({ source: dataset["source"] }) }],
    toDOM: ({ attrs }) => [
      "pre",
      { "data-source": attrs["source"] as string, class: "raw" },
      attrs["source"] as string,
    ],
  },
  raw_inline: {
    group: "inline",
    inline: true,
    atom: true,
    attrs: { source: { validate: "string" } },
    parseDOM: [{ tag: "code[data-source]", priority: 60, getAttrs: ({ dataset }) => ({ source: dataset["source"] }) }],
    toDOM: ({ attrs }) => [
      "code",
      { "data-source": attrs["source"] as string, class: "raw" },
      attrs["source"] as string,
    ],
  },
  image: {
    group: "inline",
    inline: true,
    draggable: true,
    attrs: { src: { validate: "string" }, alt: { default: "", validate: "string" }, title: { default: null } },
    // Only pictures that were copied from such a text: an address of another server is never stored.
    parseDOM: [
      {
        tag: "[data-picture]",
        priority: 60,
        getAttrs: (element) => ({
          src: element.dataset["picture"],
          alt: element.dataset["alt"] ?? "",
          title: element.dataset["title"] ?? null,
        }),
      },
    ],
    toDOM: ({ attrs }) => [
      "span",
      present({ "data-picture": attrs["src"], "data-alt": attrs["alt"], "data-title": attrs["title"] }),
      attrs["alt"] as string,
    ],
  },
  hard_break: {
    group: "inline",
    inline: true,
    selectable: false,
    parseDOM: [{ tag: "br" }],
    toDOM: () => ["br"],
    leafText: () => "\n",
  },
  text: { group: "inline" },
} satisfies Record<string, NodeSpec>;

function startOf(element: HTMLElement): number {
  const start = Number(element.getAttribute("start") ?? 1);
  return Number.isInteger(start) && start >= 0 && start <= 999_999_999 ? start : 1;
}

const marks = {
  link: {
    attrs: { href: { validate: "string" }, title: { default: null } },
    inclusive: false,
    parseDOM: [
      {
        tag: "a[href]",
        getAttrs: (element) => {
          const href = element.getAttribute("href") ?? "";
          return isWebAddress(href) ? { href, title: element.getAttribute("title") } : false;
        },
      },
    ],
    toDOM: ({ attrs }) => ["a", present({ href: safeAddress(attrs["href"] as string), rel: "noopener noreferrer" }), 0],
  },
  em,
  strong,
  code: { code: true, parseDOM: [{ tag: "code" }], toDOM: () => ["code", { spellcheck: "false" }, 0] },
} satisfies Record<string, MarkSpec>;

export const schema = new Schema({
  nodes: nodes as Record<string, NodeSpec>,
  marks: marks as Record<string, MarkSpec>,
});

export const nodeType = (name: keyof typeof nodes) => schema.nodes[name]!;
export const markType = (name: keyof typeof marks) => schema.marks[name]!;
