// What a room knows of the screen it is on.
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";

/** Whether a question about the screen is answered with yes, now and whenever the screen changes. */
function useScreen(query: string): boolean {
  const listen = useCallback(
    (onChange: () => void) => {
      const media = matchMedia(query);
      media.addEventListener("change", onChange);
      return () => media.removeEventListener("change", onChange);
    },
    [query],
  );
  return useSyncExternalStore(listen, () => matchMedia(query).matches);
}

/** Room for three columns. */
export const useWide = (): boolean => useScreen("(min-width: 1280px)");
/** A phone: a document is read there rather than written in. */
export const usePhone = (): boolean => useScreen("(max-width: 639px)");

/** A choice about how the room looks that this browser keeps. */
export function useKept(name: string): [boolean, (value: boolean) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(name) === "yes");
  const keep = (next: boolean) => {
    localStorage.setItem(name, next ? "yes" : "no");
    setValue(next);
  };
  return [value, keep];
}

/** Whether somebody looks at this page. */
export function useLooking(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      document.addEventListener("visibilitychange", onChange);
      return () => document.removeEventListener("visibilitychange", onChange);
    },
    () => !document.hidden,
  );
}

/** Whether keys typed here are words for a field. */
const isTyping = (target: EventTarget | null): boolean => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Single keys for a screen; off while something is typed, and for whoever switched them off. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const isChord = event.ctrlKey || event.metaKey || (event.altKey && !event.getModifierState("AltGraph"));
      const deed = keys[event.key];
      if (deed === undefined || isChord || (event.key.length === 1 && (isTyping(event.target) || localStorage.getItem("keys") === "off"))) return;
      event.preventDefault();
      deed();
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  });
}

/** F6: on to the next part of the screen, from the last to the first. */
export function nextPart(): void {
  const parts = [...document.querySelectorAll<HTMLElement>("[data-part]")];
  const here = parts.findIndex((part) => part.contains(document.activeElement));
  parts[(here + 1) % parts.length]?.focus();
}
