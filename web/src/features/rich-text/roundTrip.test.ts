// @vitest-environment happy-dom
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import ReactMarkdown from "react-markdown";
import { type Command, EditorState, TextSelection } from "prosemirror-state";
import type { Node } from "prosemirror-model";
import { describe, expect, it } from "vitest";

import { type Random, seeded } from "../../testing/random";
import { indent, insertBreak, outdent, splitItem, toggle, toggleList, toggleQuote } from "./commands";
import { parseMarkdown } from "./parse";
import { nodeType } from "./schema";
import { serializeBlocks, serializeMarkdown } from "./serialize";

const BLOCK_TAGS = /^(P|H[1-6]|UL|OL|LI|BLOCKQUOTE|PRE|HR|BODY)$/;

/** The rendered page: blocks, and runs of text with the set of their formats. The order of nested formats is not visible. */
function page(markdown: string): string {
  const html = renderToStaticMarkup(createElement(ReactMarkdown, { urlTransform: (url) => url }, markdown));
  const { body } = new DOMParser().parseFromString(html, "text/html");
  const parts: string[] = [];
  const add = (part: string, formats: readonly string[]) => {
    const name = `${[...new Set(formats)].toSorted().join(",")}|`;
    const last = parts.at(-1);
    if (last?.startsWith(name)) parts[parts.length - 1] = last + part;
    else parts.push(name + part);
  };
  const walk = (node: globalThis.Node, formats: readonly string[], isCode: boolean) => {
    if (node.nodeType === 3) {
      const text = node.textContent ?? "";
      const collapsed = isCode ? text : text.replaceAll(/\s+/g, " ");
      // Spaces have no visible format, except in code.
      if (collapsed !== "")
        for (const part of collapsed.split(/(?= )|(?<= )/)) add(part, part === " " && !isCode ? [] : formats);
      return;
    }
    const element = node as Element;
    const name = element.tagName;
    if (name === "IMG" || name === "BR") {
      add(
        `<${name} ${element.getAttribute("src") ?? ""} ${element.getAttribute("alt") ?? ""}>`,
        name === "BR" ? [] : formats,
      );
      return;
    }
    const isBlock = BLOCK_TAGS.test(name);
    if (isBlock) parts.push(`<${name} ${element.getAttribute("start") ?? ""}>`);
    const format = name === "A" ? `A ${element.getAttribute("href")} ${element.getAttribute("title")}` : name;
    for (const child of element.childNodes)
      walk(child, isBlock ? formats : [...formats, format], isCode || name === "PRE" || (isCode && name === "CODE"));
    if (isBlock) parts.push(`</${name}>`);
  };
  walk(body, [], false);
  // White space at the ends of a block is not visible.
  return parts
    .filter((part) => part !== "| ")
    .join("\n")
    .replaceAll(/ +\n/g, "\n")
    .replaceAll(/\| +/g, "|")
    .replaceAll(/ *(<BR {2}>) */g, "$1");
}

/** All blocks, serialized again. */
const rewritten = (text: string): string => {
  const nodes: Node[] = [];
  parseMarkdown(text).doc.forEach((node) => void nodes.push(node));
  return serializeBlocks(nodes);
};

const HARD = [
  "",
  "  \n",
  "plain",
  "two\nlines",
  "hard\\\nbreak  \nand another",
  "a **bold *both* text** and ***all***, `code`, `` a ` b ``",
  "snake_case_name * star [brackets] <angle> & &amp; \\* ~~no~~",
  "# one\n## two\n### three ###\n\nfour\n====\n\nfive\n----",
  "- a\n- b\n  - c\n    1. d\n    2. e\n- f",
  "- a\n\n- b\n\n  second paragraph\n- c",
  "* a\n* b\n\n- c\n- d\n\n+ e",
  "3) three\n4) four\n\n1. one",
  "-\n- \n- x",
  "- # heading in a list\n- > quote\n- ```\n  code\n  ```\n- ---",
  "> quote\nlazy\n>\n> - list\n>   continued\n>> deeper",
  "    indented code\n\n    more\n\n```js {1}\nlet a = `b`;\n\n\n```\n~~~\n```\n~~~",
  "---\n\n***\n_ _ _",
  "[a link](https://a.example/x_y 'title') <https://b.example> <mail@c.example> [empty]() [](https://d.example)",
  '![map](attachment:map%201.png "Title") text ![spy](https://elsewhere.example/x.png) [![in](attachment:a.png)](https://l.example)',
  "[ref] and [text][ref] and ![pic][ref]\n\n[ref]: https://r.example 'The title'\n[Other]: <x y>",
  "> [in a quote][ref]\n> [over two\n> lines][ref]\n>\n> [ref]: https://r.example",
  "<div align=center>\n<b>raw</b>\n\n</div>\n\nafter <b>inline</b> <br> <!-- comment -->",
  "- <div>\n  in a list\n\n- <br>",
  "| a | b |\n|---|:-:|\n| 1 | 2 |\n\nafter",
  "a\n-\n\nb\n=",
  "1. a\n\n   b\n2. c\n\n    indented after a list",
  "- a\n\n<!-- -->\n\n- b",
  '**bold**text and a**b**c, *x*y, **"quoted"** *(paren)*',
  "*a*b*c* __d__ _e_ **f**_g_",
  "text with trailing spaces   \nnext\ttab",
  "&nbsp;&nbsp;x &copy; &#35; not heading\n\n\\# no heading\n\n1\\. no list\n\n\\- no item",
  "+ plus\n\n= equals\n\n> \n\n#\n\n######",
  "Setext over\ntwo lines\n===",
  "a\\\n# b\n\n#hashtag #1",
  "http://bare.example and www.bare.example/_x_ and me@mail.example",
  "1986\\. A great year\n\n1986. A list",
  "🏔️ emoji **🏔️** ünïcödé *“quotes”* — dash",
  "[a](<b c> 'it''s') [x](javascript:alert(1)) [y](/relative) [z](#hash) [n](attachment:f.pdf)",
  "`` `code` `` and ` x ` and `` ` ``",
  "***\n\n* * *\n- - -",
  "<!-- open comment\n\nstill",
  "$x_1$ \\(y\\) {{z}} [^1]\n\n[^1]: note",
  "- [ ] open\n- [x] done",
  "\tcode by tab\n\n \tmixed",
  "a  \n  b\n   c",
];

const WORDS = [
  "river",
  "ä",
  "B_c",
  "1.",
  "*",
  "**",
  "_",
  "`",
  "[",
  "]",
  "(",
  ")",
  "<b>",
  "</b>",
  "![",
  "](x)",
  "](attachment:a.png)",
  "#",
  ">",
  "-",
  "+",
  "=",
  "\\",
  "&amp;",
  "&",
  "|",
  "~",
  "!",
  ":",
  "https://x.example",
  "🏔️",
  "\u00a0",
  "'",
  '"',
  ".",
  "2)",
];
const STARTS = [
  "",
  "",
  "",
  "# ",
  "### ",
  "- ",
  "* ",
  "1. ",
  "7) ",
  "> ",
  "> > ",
  "- - ",
  "  ",
  "   ",
  "    ",
  "\t",
  "```",
  "~~~\n",
  "---",
  "===",
  "[a]: x",
  "<div>",
  "> - ",
  "- > ",
  "  - ",
  "    1. ",
];

/** Pieces of the syntax of Markdown in any order. */
function randomText({ below }: Random): string {
  const pick = <T>(list: readonly T[]) => list[below(list.length)]!;
  const line = () => {
    let text = pick(STARTS);
    for (let count = below(7); count > 0; count -= 1) text += pick(WORDS) + pick(["", "", " ", " ", "  "]);
    return text;
  };
  return Array.from({ length: 1 + below(7) }, () => line() + pick(["\n", "\n", "\n\n", "\n\n", "\\\n", "  \n"])).join(
    "",
  );
}

const RUNS = 300;
const DURATION = { timeout: 60_000 };

describe("parseMarkdown and serializeMarkdown", () => {
  it.each(HARD)("keep %j, unchanged and written anew", (text) => {
    const parsed = parseMarkdown(text);
    parsed.doc.check();
    expect(serializeMarkdown(parsed.doc, text, parsed)).toBe(text);
    expect(page(rewritten(text))).toBe(page(text));
  });

  it(
    "keep generated texts: what can be edited is written anew with the same page, the rest keeps its source",
    DURATION,
    () => {
      let editable = 0;
      for (let seed = 1; seed <= RUNS; seed += 1) {
        const text = randomText(seeded(seed));
        const parsed = parseMarkdown(text);
        parsed.doc.check();
        expect(serializeMarkdown(parsed.doc, text, parsed)).toBe(text);
        const raw: string[] = [];
        parsed.doc.forEach(({ type, attrs }) => {
          if (type === nodeType("raw_block")) raw.push(attrs["source"] as string);
        });
        const written = rewritten(text);
        for (const source of raw) expect(written).toContain(source);
        // The source of a block can be read differently next to other blocks.
        if (raw.length > 0) continue;
        editable += 1;
        expect(page(written), JSON.stringify(text)).toBe(page(text));
      }
      expect(editable).toBeGreaterThan(RUNS / 3);
    },
  );

  it("write what was edited so that it is read again, and keep the source of everything else", DURATION, () => {
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const random = seeded(seed);
      const text = HARD[random.below(HARD.length)]!;
      const parsed = parseMarkdown(text);
      let state = EditorState.create({ doc: parsed.doc });
      const log: string[] = [];
      for (let count = 1 + random.below(4); count > 0; count -= 1) state = edit(state, random, log);
      const written = serializeMarkdown(state.doc, text, parsed);
      const name = `${seed} ${JSON.stringify(text)} ${log.join("; ")} -> ${JSON.stringify(written)}`;
      expect(outline(parseMarkdown(written).doc), name).toBe(outline(state.doc));
    }
  });
});

/** The visible content of a document: blocks, and texts with their formats. */
function outline(doc: Node): string {
  const parts: string[] = [];
  doc.descendants((node, _position, parent) => {
    const { name } = node.type;
    if (node.isText || node.isInline) {
      // Only text can be code.
      const marks = node.isText ? node.marks : node.marks.filter(({ type }) => type.name !== "code");
      const formats = marks.map(({ type, attrs }) => `${type.name}${JSON.stringify(attrs)}`).toSorted();
      const isCode = parent?.type.spec.code === true;
      const text = node.isText ? node.text! : `<${name} ${JSON.stringify(node.attrs)}>`;
      const words = isCode || formats.some((format) => format.startsWith("code")) ? [text] : text.split(/\s+/);
      if (name === "hard_break") parts.push("<br>");
      else for (const word of words) if (word !== "") parts.push(`${formats.join()}|${word}`);
    } else if (name !== "paragraph" || isVisible(node)) {
      const { tight: _tight, ...attrs } = node.attrs;
      parts.push(`<${name} ${JSON.stringify(attrs)}>`);
    }
    return true;
  });
  return parts
    .join("\n")
    .replaceAll(/(<br>\n?)+(?=\n?<(?!br)|$)/g, "")
    .replaceAll(/(<br>\n)+(?=[^\n]*<raw_inline)/g, "")
    .replaceAll(/\n+/g, "\n")
    .trim();
}

/** Whether a paragraph has more than spaces and line breaks. */
function isVisible(paragraph: Node): boolean {
  let isSeen = false;
  paragraph.forEach((node) => {
    if (node.isText ? node.text!.trim() !== "" : node.type !== nodeType("hard_break")) isSeen = true;
  });
  return isSeen;
}

/** One random change, as users make them with keys and buttons. */
function edit(state: EditorState, random: Random, log: string[]): EditorState {
  const { below } = random;
  const positions: number[] = [];
  state.doc.descendants((node, at) => {
    if (node.isTextblock)
      for (let offset = 0; offset <= node.content.size; offset += 1) positions.push(at + 1 + offset);
  });
  if (positions.length === 0) return state;
  const position = () => positions[below(positions.length)]!;
  const [anchor, head] = [position(), position()];
  let next = state.apply(
    state.tr.setSelection(TextSelection.create(state.doc, Math.min(anchor, head), Math.max(anchor, head))),
  );
  const commands: Record<string, Command> = {
    bold: toggle("strong"),
    italic: toggle("em"),
    code: toggle("code"),
    bullets: toggleList("bullet_list"),
    numbers: toggleList("ordered_list"),
    quote: toggleQuote,
    split: splitItem,
    break: insertBreak,
    indent,
    outdent,
    type: (current, dispatch) => {
      const words = Array.from({ length: 1 + below(3) }, () => WORDS[below(WORDS.length)]!).join(
        below(2) === 0 ? " " : "",
      );
      dispatch?.(current.tr.insertText(words, current.selection.from));
      return true;
    },
    remove: (current, dispatch) => {
      dispatch?.(current.tr.deleteSelection());
      return true;
    },
    removeBlock: ({ tr, doc }, dispatch) => {
      const index = below(doc.childCount);
      let at = 0;
      for (let before = 0; before < index; before += 1) at += doc.child(before).nodeSize;
      // Without its definition, a reference is a text.
      if (doc.childCount > 1 && doc.child(index).type !== nodeType("raw_block"))
        dispatch?.(tr.delete(at, at + doc.child(index).nodeSize));
      return true;
    },
  };
  const names = Object.keys(commands);
  const name = names[below(names.length)]!;
  log.push(`${name} ${Math.min(anchor, head)}-${Math.max(anchor, head)}`);
  commands[name]!(next, (transaction) => (next = next.apply(transaction)));
  next.doc.check();
  return next;
}
