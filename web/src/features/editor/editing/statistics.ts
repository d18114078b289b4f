// Word count and outline of a document.
import type { Node } from "prosemirror-model";

export interface OutlineEntry {
  level: number;
  text: string;
  /** Position inside the heading. */
  at: number;
}

export const countWords = (text: string): number =>
  text.match(/[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}'’.-]*[\p{L}\p{N}\p{M}])?/gu)?.length ?? 0;

export const textOf = (doc: Node, from = 0, to = doc.content.size): string => doc.textBetween(from, to, "\n", " ");

export function outlineOf(doc: Node): OutlineEntry[] {
  const entries: OutlineEntry[] = [];
  doc.descendants((node, at) => {
    if (node.type.name === "heading" && node.textContent.trim() !== "")
      entries.push({ level: node.attrs["level"] as number, text: node.textContent, at: at + 1 });
    return !node.isTextblock;
  });
  return entries;
}
