// What is pasted into a document: colors, foreign elements, tables of spreadsheets.
import { Fragment, type Node, type Schema, Slice } from "prosemirror-model";

import { cleanPastedHtml } from "../../rich-text/paste";
import { COLORS, HIGHLIGHTS, LIMITS } from "../document/schema";

/** Cleans the HTML of a clipboard. */
export const cleanHtml = (html: string): string => cleanPastedHtml(html, mapColors);

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
