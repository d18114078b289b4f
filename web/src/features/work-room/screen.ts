// Media queries, visibility and layout preferences of the work room.
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";

import { isDialogOpen } from "../../hooks/useShortcuts";

/** Whether a media query matches, updated on change. */
function useMediaQuery(query: string): boolean {
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

/** Wide enough for three columns. */
export const useIsWideScreen = (): boolean => useMediaQuery("(min-width: 1280px)");
/** A phone: documents open read-only. */
export const useIsPhone = (): boolean => useMediaQuery("(max-width: 639px)");

/** A layout preference stored in this browser. */
export function useStoredFlag(name: string): [boolean, (value: boolean) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(name) === "yes");
  const store = (next: boolean) => {
    localStorage.setItem(name, next ? "yes" : "no");
    setValue(next);
  };
  return [value, store];
}

/** Whether the page is visible. */
export function useIsPageVisible(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      document.addEventListener("visibilitychange", onChange);
      return () => document.removeEventListener("visibilitychange", onChange);
    },
    () => !document.hidden,
  );
}

/** F6 moves the focus to the next landmark of the page, Shift+F6 to the previous one: the iframe of the editor captures Tab. */
export function useLandmarkNavigation(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "F6" || event.ctrlKey || event.altKey || event.metaKey || isDialogOpen()) return;
      event.preventDefault();
      const parts = [...document.querySelectorAll<HTMLElement>("[data-part]")];
      const current = parts.findIndex((part) => part.contains(document.activeElement));
      parts.at((current + (event.shiftKey ? (current < 0 ? 0 : -1) : 1)) % parts.length)?.focus();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
