// All shortcuts by screen; their descriptions have the same names in keys.json.
import type keyTexts from "../../i18n/en/keys.json";

export interface Shortcut {
  keys: readonly string[];
  /** The text is `keys.of.NAME`. */
  name: keyof typeof keyTexts.keys.of;
}

const shortcut = (name: Shortcut["name"], ...keys: string[]): Shortcut => ({ name, keys });

export const SHORTCUTS = {
  everywhere: [
    shortcut("list", "?"),
    shortcut("today", "g", "t"),
    shortcut("board", "g", "b"),
    shortcut("submissions", "g", "s"),
    shortcut("close", "Esc"),
  ],
  board: [
    shortcut("first", "h"),
    shortcut("handled", "Enter"),
    shortcut("next", "n"),
    shortcut("number", "1 … 9"),
    shortcut("around", "← ↑ ↓ →"),
    shortcut("look", "Enter"),
    shortcut("message", "m"),
    shortcut("filter", "/"),
    shortcut("projector", "b"),
  ],
  work: [
    shortcut("nextWork", "n"),
    shortcut("workBefore", "p"),
    shortcut("returnWork", "Ctrl", "Enter"),
    shortcut("parts", "F6"),
    shortcut("toBoard", "Esc"),
  ],
  room: [shortcut("documents", "["), shortcut("chat", "]"), shortcut("parts", "F6")],
} as const satisfies Record<string, readonly Shortcut[]>;

export type ShortcutScreen = keyof typeof SHORTCUTS;

/** Screens available to students; the others belong to teachers. */
export const STUDENT_SCREENS: readonly string[] = ["list", "close", "documents", "chat", "parts"];
