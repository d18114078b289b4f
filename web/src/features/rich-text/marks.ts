// The DOM of marks that all rich texts have.
import type { MarkSpec } from "prosemirror-model";

export const em: MarkSpec = {
  parseDOM: [
    { tag: "em" },
    { tag: "i", getAttrs: (element) => (element.style.fontStyle === "normal" ? false : null) },
    { style: "font-style=italic" },
    { style: "font-style=normal", clearMark: (mark) => mark.type.name === "em" },
  ],
  toDOM: () => ["em", 0],
};

export const strong: MarkSpec = {
  parseDOM: [
    { tag: "strong" },
    // Google Docs wraps a whole copy in a <b> of normal weight.
    { tag: "b", getAttrs: (element) => (element.style.fontWeight === "normal" ? false : null) },
    { style: "font-weight=400", clearMark: (mark) => mark.type.name === "strong" },
    { style: "font-weight", getAttrs: (weight) => (/^(bold(er)?|[6-9]\d{2})$/.test(weight) ? null : false) },
  ],
  toDOM: () => ["strong", 0],
};
