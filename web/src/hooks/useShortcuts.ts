// Shortcuts of one key, or of two after each other ("g b"), in one place: silent while somebody types or a window is open, and
// for whoever switched them off (WCAG 2.1.4).
import { useEffect, useRef } from "react";

import { usePreference } from "./usePreference";

/** How long the first key of two, or of a number, waits for the second. */
const SEQUENCE_TIMEOUT_MS = 800;

export type ShortcutHandlers = Record<string, (() => void) | undefined>;

/** Whether a key pressed here is meant for what has the focus: a field, an open window, a menu. */
export function isHandledByFocus(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest("input:not([type=checkbox], [type=radio]), textarea, select, iframe, [contenteditable=true], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=tree], [role=grid], [role=combobox]") !== null;
}

/** Whether a dialog is open over the page. A note is none, although it has the role of one: keys work while it is shown. */
export const isDialogOpen = (): boolean => document.querySelector("[role=dialog], [role=alertdialog]:not(.notes *)") !== null;

/** What was pressed within the patience, the keys with spaces between them: the longest end of it that means something. */
export function matchShortcut(typed: readonly string[], handlers: ShortcutHandlers): string | undefined {
  return [typed.slice(-2).join(" "), typed.at(-1) ?? ""].find((keys) => handlers[keys] !== undefined);
}

/** Lets keys do something while a screen is open: `{ h: …, "g b": … }`. */
export function useShortcuts(handlers: ShortcutHandlers): void {
  const [isOn] = usePreference("keys");
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    if (!isOn) return undefined;
    let pressed: string[] = [];
    let last = 0;
    const onKey = (event: KeyboardEvent) => {
      // Where a sign needs AltGr, as `[` does on German keyboards, AltGr is no shortcut's Alt.
      const isChord = event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph"));
      const isPlain = !isChord && !event.isComposing && !event.repeat && event.key.length === 1 && event.key !== " ";
      if (!isPlain || event.defaultPrevented || isHandledByFocus(event.target)) return;
      pressed = event.timeStamp - last < SEQUENCE_TIMEOUT_MS ? [...pressed.slice(-1), event.key] : [event.key];
      last = event.timeStamp;
      const keys = matchShortcut(pressed, latest.current);
      if (keys === undefined) return;
      event.preventDefault();
      latest.current[keys]?.();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isOn]);
}
