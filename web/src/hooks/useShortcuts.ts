// Keyboard shortcuts of one key or a sequence of two ("g b"). Inactive while the user types, while a dialog is open, and for
// users who turned them off (WCAG 2.1.4).
import { useEffect, useRef } from "react";

import { usePreference } from "./usePreference";

/** How long the first key of a sequence, or of a number, waits for the second. */
const SEQUENCE_TIMEOUT_MS = 800;

export type ShortcutHandlers = Record<string, (() => void) | undefined>;

/** Whether a key press is meant for the focused element: a field, an open dialog, a menu. */
export function isHandledByFocus(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return (
    target.closest(
      "input:not([type=checkbox], [type=radio]), textarea, select, iframe, [contenteditable=true], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=tree], [role=grid], [role=combobox]",
    ) !== null
  );
}

/** Whether a dialog is open over the page. Toasts do not count, although they have the same role: shortcuts work while they are shown. */
export const isDialogOpen = (): boolean =>
  document.querySelector("[role=dialog], [role=alertdialog]:not(.toasts *)") !== null;

/** The longest suffix of the keys typed within the timeout (separated by spaces) that has a handler. */
export function matchShortcut(typed: readonly string[], handlers: ShortcutHandlers): string | undefined {
  return [typed.slice(-2).join(" "), typed.at(-1) ?? ""].find((keys) => handlers[keys] !== undefined);
}

/** Registers shortcuts while a screen is open: `{ h: …, "g b": … }`. */
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
      // Where a character needs AltGr, like `[` on German keyboards, AltGr does not count as Alt.
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
