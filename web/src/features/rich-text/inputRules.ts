// Markdown shortcuts: what is typed at the beginning of a block or around a word becomes its format.
import { inputRules, InputRule, textblockTypeInputRule, wrappingInputRule } from "prosemirror-inputrules";
import type { MarkType, NodeType, Schema } from "prosemirror-model";
import type { Plugin } from "prosemirror-state";

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

/** The rules for the nodes and marks that a schema has. `isLinkTarget` decides which typed addresses become links. */
export function markdownRules(schema: Schema, isLinkTarget: (href: string) => boolean): Plugin {
  const node = (name: string) => schema.nodes[name]!;
  const mark = (name: string) => schema.marks[name]!;
  /** A rule for a node or mark that not every schema has. */
  const optional = <T extends MarkType | NodeType>(type: T | undefined, rule: (type: T) => InputRule) =>
    type === undefined ? [] : [rule(type)];
  return inputRules({
    rules: [
      textblockTypeInputRule(/^(#{1,4})\s$/, node("heading"), ([, marks = "#"]) => ({ level: marks.length })),
      wrappingInputRule(/^\s*>\s$/, node("blockquote")),
      wrappingInputRule(/^\s*([-+*])\s$/, node("bullet_list")),
      wrappingInputRule(
        /^(\d{1,6})[.)]\s$/,
        node("ordered_list"),
        ([, start]) => ({ start: Number(start) }),
        ([, start], list) => list.childCount + (list.attrs["start"] as number) === Number(start),
      ),
      ...optional(schema.nodes["check_list"], (type) => wrappingInputRule(/^\s*\[([ xX]?)\]\s$/, type)),
      textblockTypeInputRule(/^```$/, node("code_block")),
      new InputRule(/^(---|___|\*\*\*)$/, (state) => {
        const { $from } = state.selection;
        if ($from.parent.type !== node("paragraph")) return null;
        let { tr } = state;
        insertBlock(node("horizontal_rule").create())(
          state.apply(state.tr.delete($from.start(), $from.end())),
          (transaction) => {
            tr = state.tr.delete($from.start(), $from.end());
            for (const step of transaction.steps) tr.step(step);
            tr.setSelection(transaction.selection.getBookmark().resolve(tr.doc));
          },
        );
        return tr;
      }),
      markRule(/(^|[\s(["'„])\*\*([^*\s][^*]*)\*\*$/, mark("strong")),
      markRule(/(^|[\s(["'„])\*([^*\s][^*]*)\*$/, mark("em")),
      ...optional(schema.marks["strike"], (type) => markRule(/(^|[\s(["'„])~~([^~]+)~~$/, type)),
      markRule(/(^|[\s(["'„])`([^`]+)`$/, mark("code")),
      // An address followed by a space becomes a link.
      new InputRule(/(^|\s)(https?:\/\/[^\s]+[^\s.,;:!?)"'])\s$/, (state, [, before = "", href = ""], start, end) => {
        if (!isLinkTarget(href)) return null;
        const from = start + before.length;
        return state.tr
          .addMark(from, end, mark("link").create({ href }))
          .insertText(" ", end)
          .removeStoredMark(mark("link"));
      }),
    ],
  });
}
