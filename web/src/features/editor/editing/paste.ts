// Cleans what is pasted from word processors: their lists become lists, their own markup disappears.
import { Fragment, type Node, type Schema, Slice } from "prosemirror-model";

import { COLORS, HIGHLIGHTS, LIMITS } from "../document/schema";

/** Cleans the HTML of a clipboard. */
export function cleanHtml(html: string): string {
  // Conditional comments of Word hide its own list markers from other programs; `o:p` encloses the space of an empty paragraph.
  const plain = html
    .replaceAll(/<!\[(if[^\]]*|endif)\]>/g, "")
    .replaceAll(/<o:p>(&nbsp;|\s)*<\/o:p>/gi, "")
    .replaceAll(/<\/?[ow]:[^>]*>/gi, "");
  const page = new DOMParser().parseFromString(plain, "text/html");
  for (const element of page.querySelectorAll("style, script, meta, link, title, xml")) element.remove();
  removeComments(page.body);
  convertWordLists(page.body);
  convertCheckLists(page.body);
  mapColors(page.body);
  removeLayoutTables(page.body);
  return page.body.innerHTML;
}

function removeComments(root: Element): void {
  for (const node of [...root.childNodes]) {
    // 8 is the type of comments.
    if (node.nodeType === 8) node.remove();
    else if (node.nodeType === 1) removeComments(node as Element);
  }
}

const MARKER = /mso-list:\s*ignore/i;
const LEVEL = /mso-list:[^;"]*\blevel(\d+)/i;

interface WordItem {
  element: Element;
  level: number;
  isOrdered: boolean;
  start: number;
}

/** Word writes list items as paragraphs that carry their level and marker in a style. */
function convertWordLists(body: Element): void {
  const isItem = (element: Element | null): element is Element =>
    element !== null && LEVEL.test(element.getAttribute("style") ?? "") && /^(P|H\d)$/.test(element.tagName);
  for (const first of [...body.querySelectorAll("p, h1, h2, h3, h4, h5, h6")]) {
    if (!isItem(first) || !first.isConnected || isItem(first.previousElementSibling)) continue;
    const items: WordItem[] = [];
    for (let element: Element | null = first; isItem(element); element = element.nextElementSibling)
      items.push(readItem(element));
    first.before(buildList(items));
    for (const { element } of items) element.remove();
  }
}

function readItem(element: Element): WordItem {
  const level = Number(LEVEL.exec(element.getAttribute("style") ?? "")?.[1] ?? 1);
  const marker = [...element.querySelectorAll("span")].find((span) => MARKER.test(span.getAttribute("style") ?? ""));
  const text = (marker?.textContent ?? "").trim();
  marker?.remove();
  return {
    element,
    level,
    isOrdered: /^\(?([0-9]+|[a-z]{1,4})[.)]/i.test(text),
    start: Number.parseInt(text, 10) || 1,
  };
}

function buildList(items: readonly WordItem[]): Element {
  const { ownerDocument: page } = items[0]!.element;
  const newList = ({ isOrdered, start }: WordItem) => {
    const list = page.createElement(isOrdered ? "ol" : "ul");
    if (isOrdered && start > 1) list.setAttribute("start", String(start));
    return list;
  };
  const base = Math.min(...items.map(({ level }) => level));
  const root = newList(items[0]!);
  const lists = [root];
  for (const item of items) {
    const depth = Math.min(item.level - base + 1, lists.length + 1);
    lists.length = Math.min(lists.length, depth);
    let list = lists.at(-1)!;
    if (depth > lists.length && list.lastElementChild !== null) {
      const inner = newList(item);
      list.lastElementChild.append(inner);
      lists.push(inner);
      list = inner;
    }
    const entry = page.createElement("li");
    const paragraph = page.createElement("p");
    paragraph.append(...item.element.childNodes);
    entry.append(paragraph);
    list.append(entry);
  }
  return root;
}

/** Google Docs and web pages write check lists as items with a role or a checkbox. */
function convertCheckLists(body: Element): void {
  for (const list of body.querySelectorAll("ul")) {
    const items = [...list.children].filter((child) => child.tagName === "LI");
    const checked = items.map((item) => {
      const box = item.querySelector("input[type=checkbox]");
      if (box !== null) return String(box.hasAttribute("checked"));
      return item.getAttribute("role") === "checkbox"
        ? String(item.getAttribute("aria-checked") === "true")
        : undefined;
    });
    if (items.length === 0 || checked.includes(undefined)) continue;
    list.setAttribute("data-checklist", "");
    items.forEach((item, index) => item.setAttribute("data-checked", checked[index]!));
  }
}

const RGB: Record<string, readonly [number, number, number]> = {
  yellow: [255, 255, 0],
  green: [0, 230, 0],
  blue: [60, 150, 255],
  pink: [255, 0, 255],
  red: [230, 0, 0],
  orange: [255, 153, 0],
  purple: [140, 40, 200],
  gray: [150, 150, 150],
  teal: [0, 140, 140],
  black: [0, 0, 0],
};

const NAMED: Record<string, string> = {
  aqua: "0,255,255",
  lime: "0,255,0",
  fuchsia: "255,0,255",
  navy: "0,0,128",
  maroon: "128,0,0",
  ...Object.fromEntries(Object.entries(RGB).map(([name, rgb]) => [name, rgb.join()])),
};

/** The nearest of the given colors; undefined for black, white and transparent, which are no choice of the writer. */
export function nearestColor(text: string, names: readonly string[]): string | undefined {
  const value = NAMED[text.trim().toLowerCase()] ?? text;
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value.trim())?.[1];
  const parts =
    hex === undefined
      ? /(\d+)\s*,\s*(\d+)\s*,\s*(\d+)(?:\s*,\s*([\d.]+))?/.exec(value)?.slice(1)
      : (hex.length === 3 ? [...hex].map((digit) => digit + digit) : hex.match(/../g)!).map((pair) =>
          String(Number.parseInt(pair, 16)),
        );
  if (parts === undefined || parts[3] === "0") return undefined;
  const [red, green, blue] = parts.map(Number) as [number, number, number];
  const isPale = Math.min(red, green, blue) > 240;
  if (Math.max(red, green, blue) < 60 || isPale) return undefined;
  const distance = (name: string) => {
    const [r, g, b] = RGB[name]!;
    return (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
  };
  return names.toSorted((one, other) => distance(one) - distance(other))[0];
}

/** Colors become the nearest of the eight colors and highlights. */
function mapColors(body: Element): void {
  for (const element of body.querySelectorAll<HTMLElement>("span[style], font[color], mark, td span")) {
    const style = element.getAttribute("style") ?? "";
    const property = (name: string) => new RegExp(`(?:^|;)\\s*${name}\\s*:\\s*([^;]+)`, "i").exec(style)?.[1];
    const isInLink = element.closest("a") !== null;
    const color = nearestColor(property("color") ?? element.getAttribute("color") ?? "", COLORS);
    const ground = nearestColor(property("mso-highlight") ?? property("background(?:-color)?") ?? "", HIGHLIGHTS);
    if (color !== undefined && !isInLink) wrapContent(element, "span", "data-color", color);
    if (ground !== undefined) wrapContent(element, "mark", "data-highlight", ground);
  }
}

function wrapContent(element: Element, tag: string, attribute: string, value: string): void {
  if (element.hasAttribute(attribute)) return;
  const wrapper = element.ownerDocument.createElement(tag);
  wrapper.setAttribute(attribute, value);
  wrapper.append(...element.childNodes);
  element.append(wrapper);
}

/** A table with one cell is layout of a web page or an email. */
function removeLayoutTables(body: Element): void {
  for (const table of body.querySelectorAll("table")) {
    const cells = table.querySelectorAll("td, th");
    if (cells.length === 1) table.replaceWith(...cells[0]!.childNodes);
  }
}

/** Identifiers of elements that exist in one document only: pictures and elements that cannot be edited here. */
export function documentIds({ content }: Slice): string[] {
  const ids: string[] = [];
  content.descendants((node) => {
    const id = idOf(node);
    if (id !== undefined) ids.push(id);
  });
  return ids;
}

const idOf = ({ type: { name }, attrs }: Node): string | undefined => {
  if (name === "image") return attrs["src"] as string;
  return name.startsWith("island") ? (attrs["id"] as string) : undefined;
};

/**
 * Removes what belongs to another document from a pasted or dropped slice: styles that this document does not have, and elements
 * that were not copied from it.
 */
export function cleanSlice(
  slice: Slice,
  known: { styles: ReadonlySet<string>; isOwn: (id: string) => boolean },
): Slice {
  const clean = (fragment: Fragment): Fragment => {
    const nodes: Node[] = [];
    fragment.forEach((node) => {
      const id = idOf(node);
      if (id !== undefined && !known.isOwn(id)) return;
      if (node.isText) {
        nodes.push(node);
        return;
      }
      const { style } = node.attrs as { style?: unknown };
      const isForeign = typeof style === "string" && !known.styles.has(style);
      const attributes = isForeign ? { ...node.attrs, style: null } : node.attrs;
      nodes.push(node.type.create(attributes, clean(node.content), node.marks));
    });
    return Fragment.fromArray(nodes);
  };
  const content = clean(slice.content);
  // Removing a node can leave a parent empty that must not be empty.
  if (!isValid(content)) return new Slice(dropInvalid(content), 0, 0);
  return new Slice(
    content,
    Math.min(slice.openStart, openDepth(content, "firstChild")),
    Math.min(slice.openEnd, openDepth(content, "lastChild")),
  );
}

const isValid = (fragment: Fragment): boolean => {
  let isFine = true;
  fragment.forEach((node) => {
    if (!node.isText && (!node.type.validContent(node.content) || !isValid(node.content))) isFine = false;
  });
  return isFine;
};

const dropInvalid = (fragment: Fragment): Fragment => {
  const nodes: Node[] = [];
  fragment.forEach((node) => {
    if (node.isText || (node.type.validContent(node.content) && isValid(node.content))) nodes.push(node);
  });
  return Fragment.fromArray(nodes);
};

function openDepth(fragment: Fragment, side: "firstChild" | "lastChild"): number {
  let depth = 0;
  for (let node = fragment[side]; node !== null && !node.isLeaf; node = node[side]) depth += 1;
  return depth;
}

/** Plain text: blank lines separate paragraphs, single line breaks stay. Tab-separated lines of a spreadsheet become a table. */
export function parsePlainText(text: string, schema: Schema): Slice | undefined {
  const lines = text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const cells = lines.map((line) => line.split("\t"));
  const width = cells[0]!.length;
  if (lines.length < 2 || width < 2 || cells.some((row) => row.length !== width)) return undefined;
  const { table, table_row: row, table_cell: cell, paragraph } = schema.nodes;
  return new Slice(
    Fragment.from(
      table!.create(
        null,
        cells.map((values) =>
          row!.create(
            null,
            values.map((value) => cell!.create(null, paragraph!.create(null, value === "" ? [] : schema.text(value)))),
          ),
        ),
      ),
    ),
    0,
    0,
  );
}

/** Depth of the deepest node of a document. */
export function depthOf(node: Node): number {
  let deepest = 0;
  node.forEach((child) => {
    deepest = Math.max(deepest, child.isText ? 0 : 1 + depthOf(child));
  });
  return deepest;
}

/** Whether a document is within the limits of the service. */
export const isWithinLimits = (doc: Node): boolean => doc.content.size <= LIMITS.size && depthOf(doc) <= LIMITS.depth;
