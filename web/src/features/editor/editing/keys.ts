// Keyboard shortcuts of the editor, in one table: the keymap and the help dialog are made from it.
import { baseKeymap, chainCommands, exitCode, splitBlockKeepMarks } from "prosemirror-commands";
import { redo, undo } from "prosemirror-history";
import type { Command } from "prosemirror-state";
import { addRowAfter, goToNextCell, isInTable } from "prosemirror-tables";

import type editorTexts from "../../../i18n/en/editor.json";
import {
  indent,
  insertBlock,
  insertBreak,
  outdent,
  removeBlockFormat,
  splitItem,
  toggle,
  toggleList,
} from "../../rich-text/commands";
import { nodeType } from "../document/schema";
import { clearFormatting, moveBlock, setAlign, setBlock, toggleChecked } from "./commands";

/** Actions of the user interface that a key starts. */
export type UiAction = "comment" | "link" | "find" | "footnote" | "keys" | "toolbar" | "print";

export interface Key {
  /** In ProseMirror's notation; `Mod` is Command on Apple keyboards, else Control. */
  key: string;
  name: keyof typeof editorTexts.editor.keys.of;
  run: Command | UiAction;
}

export const KEYS: Record<keyof typeof editorTexts.editor.keys.group, readonly Key[]> = {
  text: [
    { key: "Mod-b", name: "bold", run: toggle("strong") },
    { key: "Mod-i", name: "italic", run: toggle("em") },
    { key: "Mod-u", name: "underline", run: toggle("underline") },
    { key: "Mod-Shift-x", name: "strike", run: toggle("strike") },
    { key: "Mod-.", name: "superscript", run: toggle("superscript") },
    { key: "Mod-,", name: "subscript", run: toggle("subscript") },
    { key: "Mod-e", name: "code", run: toggle("code") },
    { key: "Mod-k", name: "link", run: "link" },
    { key: "Mod-\\", name: "clear", run: clearFormatting },
  ],
  blocks: [
    { key: "Mod-Alt-0", name: "paragraph", run: setBlock("paragraph") },
    { key: "Mod-Alt-1", name: "heading", run: setBlock("h1") },
    { key: "Mod-Shift-7", name: "numbers", run: toggleList("ordered_list") },
    { key: "Mod-Shift-8", name: "bullets", run: toggleList("bullet_list") },
    { key: "Mod-Shift-9", name: "checks", run: toggleList("check_list") },
    { key: "Mod-Enter", name: "check", run: chainCommands(toggleChecked, exitCode) },
    { key: "Mod-Alt-q", name: "quote", run: setBlock("quote") },
    { key: "Mod-Shift-l", name: "left", run: setAlign(null) },
    { key: "Mod-Shift-e", name: "center", run: setAlign("center") },
    { key: "Mod-Shift-r", name: "right", run: setAlign("right") },
    { key: "Alt-Shift-ArrowUp", name: "up", run: moveBlock(-1) },
    { key: "Alt-Shift-ArrowDown", name: "down", run: moveBlock(1) },
    { key: "Mod-Alt-f", name: "footnote", run: "footnote" },
  ],
  document: [
    { key: "Mod-z", name: "undo", run: undo },
    { key: "Mod-Shift-z", name: "redo", run: redo },
    { key: "Mod-f", name: "find", run: "find" },
    { key: "Mod-Alt-m", name: "comment", run: "comment" },
    { key: "Mod-p", name: "print", run: "print" },
    { key: "Alt-F10", name: "toolbar", run: "toolbar" },
    { key: "Mod-/", name: "help", run: "keys" },
  ],
};

/** Keys that need no line in the help: variants of others, and what every editor does. */
const FURTHER: Record<string, Command> = {
  "Mod-y": redo,
  "Mod-Alt-2": setBlock("h2"),
  "Mod-Alt-3": setBlock("h3"),
  "Mod-Alt-4": setBlock("h4"),
  Enter: splitItem,
  "Shift-Enter": insertBreak,
  Tab: chainCommands(nextCell, indent),
  "Shift-Tab": chainCommands(goToNextCell(-1), outdent),
  Backspace: removeBlockFormat(setBlock("paragraph")),
};

/** The next cell; after the last one a new row. */
function nextCell(...[state, dispatch, view]: Parameters<Command>): boolean {
  if (!isInTable(state)) return false;
  if (goToNextCell(1)(state, dispatch)) return true;
  return addRowAfter(state, dispatch) && (view === undefined || goToNextCell(1)(view.state, view.dispatch));
}

/** All key bindings. `start` begins an action of the user interface. */
export function keyBindings(start: (action: UiAction) => void): Record<string, Command> {
  const bindings: Record<string, Command> = { ...baseKeymap };
  for (const { key, run } of Object.values(KEYS).flat()) {
    bindings[key] =
      typeof run === "string"
        ? () => {
            start(run);
            return true;
          }
        : run;
  }
  for (const [key, command] of Object.entries(FURTHER)) {
    const base = bindings[key];
    bindings[key] = base === undefined ? command : chainCommands(command, base);
  }
  bindings["Enter"] = chainCommands(bindings["Enter"]!, splitBlockKeepMarks);
  return bindings;
}

export const insertRule = insertBlock(nodeType("horizontal_rule").create());
export const insertPageBreak = insertBlock(nodeType("page_break").create());
