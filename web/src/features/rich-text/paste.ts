// Cleans what is pasted from word processors: their lists become lists, their own markup disappears.
import { type ResolvedPos, type Slice } from "prosemirror-model";

/** Cleans the HTML of a clipboard; `convert` changes what only some schemas have. */
export function cleanPastedHtml(html: string, convert?: (body: HTMLElement) => void): string {
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
  convert?.(page.body);
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

/** A table with one cell is layout of a web page or an email. */
function removeLayoutTables(body: Element): void {
  for (const table of body.querySelectorAll("table")) {
    const cells = table.querySelectorAll("td, th");
    if (cells.length === 1) table.replaceWith(...cells[0]!.childNodes);
  }
}

/** Plain text: every line becomes a paragraph. */
export function plainTextSlice(text: string, $context: ResolvedPos): Slice {
  const { schema } = $context.doc.type;
  const marks = $context.marks();
  const paragraphs = text
    .replaceAll("\r\n", "\n")
    .split(/\n+/)
    .map((line) => schema.node("paragraph", null, line === "" ? [] : schema.text(line, marks)));
  const doc = schema.node("doc", null, paragraphs);
  return doc.slice(1, doc.content.size - 1);
}
