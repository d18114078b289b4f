// Shortcuts of one key, or of two after each other ("g b"), in one place: silent while somebody types or a window is open, and
// for whoever switched them off (WCAG 2.1.4).
import { useEffect, useRef } from "react";

import { usePreference } from "./preference";

/** How long the first key of two, or of a number, waits for the second. */
const PATIENCE = 800;

export type Deeds = Record<string, (() => void) | undefined>;

/** Whether a key pressed here is meant for what has the focus: a field, an open window, a menu. */
export function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest("input:not([type=checkbox], [type=radio]), textarea, select, iframe, [contenteditable=true], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=tree], [role=grid], [role=combobox]") !== null;
}

/** Whether a dialog is open over the page. A note is none, although it has the role of one: keys work while it is shown. */
export const isWindowOpen = (): boolean => document.querySelector("[role=dialog], [role=alertdialog]:not(.notes *)") !== null;

/** What was pressed within the patience, the keys with spaces between them: the longest end of it that means something. */
export function match(pressed: readonly string[], deeds: Deeds): string | undefined {
  return [pressed.slice(-2).join(" "), pressed.at(-1) ?? ""].find((keys) => deeds[keys] !== undefined);
}

/** Lets keys do something while a screen is open: `{ h: …, "g b": … }`. */
export function useKeys(deeds: Deeds): void {
  const [isOn] = usePreference("keys");
  const latest = useRef(deeds);
  useEffect(() => {
    latest.current = deeds;
  });
  useEffect(() => {
    if (!isOn) return undefined;
    let pressed: string[] = [];
    let last = 0;
    const onKey = (event: KeyboardEvent) => {
      // Where a sign needs AltGr, as `[` does on German keyboards, AltGr is no shortcut's Alt.
      const isChord = event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph"));
      const isPlain = !isChord && !event.isComposing && !event.repeat && event.key.length === 1 && event.key !== " ";
      if (!isPlain || event.defaultPrevented || isTaken(event.target)) return;
      pressed = event.timeStamp - last < PATIENCE ? [...pressed.slice(-1), event.key] : [event.key];
      last = event.timeStamp;
      const keys = match(pressed, latest.current);
      if (keys === undefined) return;
      event.preventDefault();
      latest.current[keys]?.();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isOn]);
}
