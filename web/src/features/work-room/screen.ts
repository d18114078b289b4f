// What a room knows of the screen it is on.
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";

import { isDialogOpen } from "../../hooks/useShortcuts";

/** Whether a question about the screen is answered with yes, now and whenever the screen changes. */
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

/** Room for three columns. */
export const useIsWideScreen = (): boolean => useMediaQuery("(min-width: 1280px)");
/** A phone: a document is read there rather than written in. */
export const useIsPhone = (): boolean => useMediaQuery("(max-width: 639px)");

/** A choice about how the room looks that this browser keeps. */
export function useStoredFlag(name: string): [boolean, (value: boolean) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(name) === "yes");
  const store = (next: boolean) => {
    localStorage.setItem(name, next ? "yes" : "no");
    setValue(next);
  };
  return [value, store];
}

/** Whether somebody looks at this page. */
export function useIsPageVisible(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      document.addEventListener("visibilitychange", onChange);
      return () => document.removeEventListener("visibilitychange", onChange);
    },
    () => !document.hidden,
  );
}

/** F6 goes on to the next part of the screen, with Shift to the one before: the frame of the editor lets no Tab out. */
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
