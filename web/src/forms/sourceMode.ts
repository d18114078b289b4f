// Whether a user writes Markdown instead of formatted text, stored in this browser.
import { useSyncExternalStore } from "react";

const KEY = "prefers:markdown";
const listeners = new Set<() => void>();

/** The preference of all fields, and a function that changes it. */
export function useSourceMode(): [boolean, (isOn: boolean) => void] {
  const isOn = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => localStorage.getItem(KEY) === "source",
  );
  const change = (next: boolean) => {
    if (next) localStorage.setItem(KEY, "source");
    else localStorage.removeItem(KEY);
    for (const listener of listeners) listener();
  };
  return [isOn, change];
}
