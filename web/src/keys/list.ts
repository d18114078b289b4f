// Every shortcut of the product, by the screen it belongs to; the words stand under the same names in keys.json.
export interface Shortcut {
  keys: readonly string[];
  /** Its words: `keys.of.NAME`. */
  name: string;
}

const of = (name: string, ...keys: string[]): Shortcut => ({ name, keys });

export const SHORTCUTS = {
  everywhere: [of("list", "?"), of("today", "g", "t"), of("board", "g", "b"), of("submissions", "g", "s"), of("close", "Esc")],
  board: [
    of("first", "h"),
    of("handled", "Enter"),
    of("next", "n"),
    of("number", "1 … 9"),
    of("around", "← ↑ ↓ →"),
    of("look", "Enter"),
    of("message", "m"),
    of("filter", "/"),
    of("projector", "b"),
  ],
  work: [of("nextWork", "n"), of("workBefore", "p"), of("returnWork", "Ctrl", "Enter"), of("parts", "F6"), of("toBoard", "Esc")],
  room: [of("documents", "["), of("chat", "]"), of("parts", "F6")],
} as const satisfies Record<string, readonly Shortcut[]>;

export type Place = keyof typeof SHORTCUTS;

/** What works for students too: the others lead to screens of teachers. */
export const FOR_ALL: readonly string[] = ["list", "close", "documents", "chat", "parts"];
