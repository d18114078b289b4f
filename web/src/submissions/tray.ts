// The files that are being fetched, and were: kept outside of the screens, so that going elsewhere does not break them off.
import { useSyncExternalStore } from "react";

import type { Progress } from "./archive";

export interface Download {
  id: number;
  name: string;
  state: "running" | "ready" | "failed";
  progress: Progress;
  /** Where the finished file can be saved from, once more. */
  href?: string;
  /** What an archive says it could not bring. */
  missing: readonly string[];
  problem?: unknown;
  again: () => void;
  stop: () => void;
}

let all: readonly Download[] = [];
const listeners = new Set<() => void>();

function put(next: readonly Download[]): void {
  all = next;
  for (const listener of listeners) listener();
}

const listen = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useDownloads = (): readonly Download[] => useSyncExternalStore(listen, () => all);
export const add = (download: Download): void => put([...all, download]);
export const change = (id: number, part: Partial<Download>): void => put(all.map((one) => (one.id === id ? { ...one, ...part } : one)));

/** Takes one out of the list; one that is under way is broken off. */
export function dismiss(id: number): void {
  const gone = all.find((one) => one.id === id);
  gone?.stop();
  if (gone?.href) URL.revokeObjectURL(gone.href);
  put(all.filter((one) => one.id !== id));
}

export function dismissAll(): void {
  for (const one of all) dismiss(one.id);
}
