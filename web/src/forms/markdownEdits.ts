// Edits of a Markdown text in a text field, as buttons and shortcuts make them. Pure functions on text and selection.

import { ATTACHMENT } from "../components/pictureFile";

/** Replaces the characters from `from` to `to`; then the characters from `start` to `end` are selected. */
export interface TextEdit {
  from: number;
  to: number;
  insert: string;
  start: number;
  end: number;
}

interface Selection {
  text: string;
  start: number;
  end: number;
}

/** Puts marks around the selection, or removes them. Without a selection, the cursor ends between the marks. */
export function toggleMark({ text, start, end }: Selection, mark: string): TextEdit {
  const size = mark.length;
  if (text.slice(start - size, start) === mark && text.slice(end, end + size) === mark)
    return { from: start - size, to: end + size, insert: text.slice(start, end), start: start - size, end: end - size };
  // Marks next to spaces have no effect in Markdown.
  const inner = text.slice(start, end);
  const leading = inner.length - inner.trimStart().length;
  const core = inner.trim();
  return {
    from: start + leading,
    to: start + leading + core.length,
    insert: `${mark}${core}${mark}`,
    start: start + leading + size,
    end: start + leading + size + core.length,
  };
}

/** Kinds of lines with their marks; `number` marks are counted. */
const PREFIXES = { heading: "## ", list: "- ", number: "1. ", quote: "> " } as const;
export type LineKind = keyof typeof PREFIXES;
const ANY_PREFIX = /^(#{1,6} |[-*+] |\d+\. |> )/;

/** Makes the selected lines headings, list items or a quote, or plain lines if they are that already. */
export function toggleLines({ text, start, end }: Selection, kind: LineKind): TextEdit {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const after = text.indexOf("\n", Math.max(start, end - (end > start && text[end - 1] === "\n" ? 1 : 0)));
  const to = after === -1 ? text.length : after;
  const lines = text.slice(from, to).split("\n");
  const isKind = (line: string) => (kind === "number" ? /^\d+\. /.test(line) : line.startsWith(PREFIXES[kind]));
  const isOn = lines.every((line) => line === "" || isKind(line)) && lines.some((line) => line !== "");
  const insert = lines
    .map((line, index) => {
      const plain = line.replace(ANY_PREFIX, "");
      if (isOn || (line === "" && lines.length > 1)) return plain;
      return (kind === "number" ? `${index + 1}. ` : PREFIXES[kind]) + plain;
    })
    .join("\n");
  // A list or quote directly below a paragraph would belong to it.
  const before = text.slice(0, from);
  const gap = isOn || before === "" || before.endsWith("\n\n") || ANY_PREFIX.test(lastLine(before)) ? "" : "\n";
  const at = from + gap.length + insert.length;
  return { from, to, insert: gap + insert, start: lines.length === 1 ? at : from + gap.length, end: at };
}

const lastLine = (before: string): string => before.slice(before.lastIndexOf("\n", before.length - 2) + 1);

const escapeText = (text: string): string => text.replaceAll(/[\\[\]]/g, String.raw`\$&`).replaceAll(/\s*\n\s*/g, " ");
const escapeAddress = (address: string): string =>
  address.trim().replaceAll(/[\s<>()\\]/g, (sign) => `%${(sign.codePointAt(0) ?? 32).toString(16).toUpperCase()}`);

/** Whether an address of a link is complete and harmless. */
export const isWebAddress = (address: string): boolean => /^(https?:\/\/[^\s/]|mailto:[^\s@]+@)/i.test(address.trim());

/** Completes an address that was typed without a scheme. */
export function completeAddress(typed: string): string {
  const address = typed.trim();
  if (/^[a-z][a-z0-9+.-]*:/i.test(address)) return address;
  return /^[^\s@/]+@[^\s@/]+$/.test(address) ? `mailto:${address}` : `https://${address}`;
}

/** Inserts a link in place of the selection. */
export function insertLink({ start, end }: Selection, words: string, address: string): TextEdit {
  const insert = `[${escapeText(words.trim() || address)}](${escapeAddress(address)})`;
  return { from: start, to: end, insert, start: start + insert.length, end: start + insert.length };
}

/** Inserts a picture of the topic's files after the selection, in a paragraph of its own. */
export function insertPicture({ text, end }: Selection, alt: string, fileName: string): TextEdit {
  const before = text.slice(0, end);
  const gap = before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  const insert = `${gap}![${escapeText(alt.trim())}](${ATTACHMENT}${encodeURIComponent(fileName)})\n`;
  return { from: end, to: end, insert, start: end + insert.length, end: end + insert.length };
}

export const applyEdit = (text: string, { from, to, insert }: TextEdit): string =>
  text.slice(0, from) + insert + text.slice(to);

/** A file name without characters that need escaping, and unlike the names that are taken. */
export function pictureName(name: string, taken: readonly string[]): string {
  const dot = name.lastIndexOf(".");
  const extension = name.slice(dot + 1).toLowerCase();
  const base =
    name
      .slice(0, dot === -1 ? undefined : dot)
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .replaceAll(/[^\w-]+/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, 60) || "picture";
  let wanted = `${base}.${extension}`;
  for (let number = 2; taken.includes(wanted); number++) wanted = `${base}-${number}.${extension}`;
  return wanted;
}

const BLOCKS: Record<string, string> = { H1: "# ", H2: "## ", H3: "### ", H4: "#### ", LI: "- ", BLOCKQUOTE: "> " };

/** What the parser needs of a node of copied HTML. */
export interface HtmlNode {
  nodeName: string;
  textContent: string | null;
  childNodes: ArrayLike<HtmlNode>;
  getAttribute?: (name: string) => string | null;
}

/** Converts copied HTML to Markdown: headings, lists, quotes, bold, italic and links; everything else is plain text. */
export function markdownOf(root: HtmlNode): string {
  return blocksOf(root)
    .replaceAll(/[ \t]+\n/g, "\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function blocksOf(node: HtmlNode, list?: "OL" | "UL"): string {
  let number = 0;
  let markdown = "";
  for (const child of Array.from(node.childNodes)) {
    const name = child.nodeName.toUpperCase();
    if (name === "LI") {
      number += 1;
      const mark = list === "OL" ? `${number}. ` : BLOCKS.LI;
      markdown += `${mark}${inlineOf(child).trim()}\n`;
    } else if (name === "OL" || name === "UL") markdown += `\n\n${blocksOf(child, name)}\n`;
    else if (name in BLOCKS) markdown += `\n\n${BLOCKS[name]}${inlineOf(child).trim()}\n\n`;
    else if (/^(P|DIV|SECTION|ARTICLE|BODY|HTML|MAIN|TABLE|TBODY|TR)$/.test(name))
      markdown += `\n\n${blocksOf(child)}\n\n`;
    else markdown += inlineNode(child);
  }
  return markdown;
}

const inlineOf = (node: HtmlNode): string => Array.from(node.childNodes, inlineNode).join("");

function inlineNode(node: HtmlNode): string {
  const name = node.nodeName.toUpperCase();
  if (name === "#TEXT")
    return (node.textContent ?? "").replaceAll(/\s+/g, " ").replaceAll(/[\\*_[\]`<]/g, String.raw`\$&`);
  if (/^(SCRIPT|STYLE|HEAD|TITLE|META|LINK|TEMPLATE|IFRAME|OBJECT|SVG|#COMMENT)$/.test(name)) return "";
  if (name === "BR") return "\n";
  if (name === "IMG") return node.getAttribute?.("alt") ?? "";
  const inner = inlineOf(node);
  if (inner.trim() === "") return inner;
  const wrapped = (mark: string) => inner.replace(/^(\s*)([\s\S]*?)(\s*)$/, `$1${mark}$2${mark}$3`);
  if (name === "B" || name === "STRONG") return wrapped("**");
  if (name === "I" || name === "EM") return wrapped("*");
  if (name === "A") {
    const address = node.getAttribute?.("href") ?? "";
    return isWebAddress(address) ? `[${inner.trim()}](${escapeAddress(address)})` : inner;
  }
  return inner;
}
