// Markdown shortcuts: what is typed at the beginning of a block or around a word becomes its format.
import {
  inputRules,
  InputRule,
  textblockTypeInputRule,
  undoInputRule,
  wrappingInputRule,
} from "prosemirror-inputrules";
import type { MarkType } from "prosemirror-model";
import type { Plugin } from "prosemirror-state";

import { isLinkTarget, markType, nodeType } from "../document/schema";
import { insertBlock } from "./commands";

/** `**bold**`: the characters around the text are replaced by the mark. */
function markRule(pattern: RegExp, type: MarkType): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    const [whole, before = "", text = ""] = match;
    const from = start + before.length;
    const $from = state.doc.resolve(from);
    if (text.trim() === "" || !$from.parent.type.allowsMarkType(type)) return null;
    // The last character of the pattern has not been inserted yet.
    const marker = (whole.length - before.length - text.length) / 2;
    const { tr } = state;
    tr.delete(from + marker + text.length, end).delete(from, from + marker);
    return tr.addMark(from, from + text.length, type.create()).removeStoredMark(type);
  });
}

export const markdownRules: Plugin = inputRules({
  rules: [
    textblockTypeInputRule(/^(#{1,4})\s$/, nodeType("heading"), ([, marks = "#"]) => ({ level: marks.length })),
    wrappingInputRule(/^\s*>\s$/, nodeType("blockquote")),
    wrappingInputRule(/^\s*([-+*])\s$/, nodeType("bullet_list")),
    wrappingInputRule(
      /^(\d{1,6})[.)]\s$/,
      nodeType("ordered_list"),
      ([, start]) => ({ start: Number(start) }),
      ([, start], list) => list.childCount + (list.attrs["start"] as number) === Number(start),
    ),
    wrappingInputRule(/^\s*\[([ xX]?)\]\s$/, nodeType("check_list")),
    textblockTypeInputRule(/^```$/, nodeType("code_block")),
    new InputRule(/^(---|___|\*\*\*)$/, (state) => {
      const { $from } = state.selection;
      if ($from.parent.type !== nodeType("paragraph")) return null;
      let { tr } = state;
      insertBlock(nodeType("horizontal_rule").create())(
        state.apply(state.tr.delete($from.start(), $from.end())),
        (transaction) => {
          tr = state.tr.delete($from.start(), $from.end());
          for (const step of transaction.steps) tr.step(step);
          tr.setSelection(transaction.selection.getBookmark().resolve(tr.doc));
        },
      );
      return tr;
    }),
    markRule(/(^|[\s(["'„])\*\*([^*\s][^*]*)\*\*$/, markType("strong")),
    markRule(/(^|[\s(["'„])\*([^*\s][^*]*)\*$/, markType("em")),
    markRule(/(^|[\s(["'„])~~([^~]+)~~$/, markType("strike")),
    markRule(/(^|[\s(["'„])`([^`]+)`$/, markType("code")),
    // An address followed by a space becomes a link.
    new InputRule(/(^|\s)(https?:\/\/[^\s]+[^\s.,;:!?)"'])\s$/, (state, [, before = "", href = ""], start, end) => {
      if (!isLinkTarget(href)) return null;
      const from = start + before.length;
      return state.tr
        .addMark(from, end, markType("link").create({ href }))
        .insertText(" ", end)
        .removeStoredMark(markType("link"));
    }),
  ],
});

export { undoInputRule };
