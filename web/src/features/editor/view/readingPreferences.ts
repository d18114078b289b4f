// Reading aids of a user, stored in this browser. They change only what this user sees.
import { useSyncExternalStore } from "react";

export type Level = "normal" | "wide" | "widest";
export interface ReadingPreferences {
  lines: Level;
  letters: Level;
  size: Level;
  ruler: boolean;
  announce: boolean;
}

const DEFAULTS: ReadingPreferences = {
  lines: "normal",
  letters: "normal",
  size: "normal",
  ruler: false,
  announce: true,
};
const KEY = "prefers:reading";
const LEVELS = ["normal", "wide", "widest"];

const listeners = new Set<() => void>();
let current: ReadingPreferences | undefined;

function read(): ReadingPreferences {
  if (current !== undefined) return current;
  let stored: Partial<ReadingPreferences> = {};
  try {
    stored = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<ReadingPreferences>;
  } catch {
    // A broken value counts as none.
  }
  const level = (value: unknown): Level => (LEVELS.includes(String(value)) ? (value as Level) : "normal");
  current = {
    lines: level(stored.lines),
    letters: level(stored.letters),
    size: level(stored.size),
    ruler: stored.ruler === true,
    announce: stored.announce !== false,
  };
  return current ?? DEFAULTS;
}

export function useReadingPreferences(): [ReadingPreferences, (change: Partial<ReadingPreferences>) => void] {
  const value = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, read);
  const change = (next: Partial<ReadingPreferences>) => {
    current = { ...read(), ...next };
    localStorage.setItem(KEY, JSON.stringify(current));
    for (const listener of listeners) listener();
  };
  return [value, change];
}
