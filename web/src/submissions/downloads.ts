// Files that take a while to be made: they are fetched here, outside of the screens, so that going elsewhere does not break
// them off, and what failed is said instead of being saved under the name of a file.
import { useSyncExternalStore } from "react";

import { Problem, problemOf } from "../api/client";
import { Archive, type Progress } from "./archive";

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
}

let all: readonly Download[] = [];
let count = 0;
const listeners = new Set<() => void>();
const stops = new Map<number, AbortController>();

function put(next: readonly Download[]): void {
  all = next;
  for (const listener of listeners) listener();
}

const change = (id: number, part: Partial<Download>) => put(all.map((one) => (one.id === id ? { ...one, ...part } : one)));

const listen = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** What is being fetched, and what has been. */
export const useDownloads = (): readonly Download[] => useSyncExternalStore(listen, () => all);

/** Takes one out of the list; one that is under way is broken off. */
export function dismiss(id: number): void {
  stops.get(id)?.abort();
  const gone = all.find((one) => one.id === id);
  if (gone?.href) URL.revokeObjectURL(gone.href);
  put(all.filter((one) => one.id !== id));
}

export function dismissAll(): void {
  for (const one of all) dismiss(one.id);
}

/** Fetches an archive or a file that the service makes when it is asked; saves it when it is whole. */
export function fetchFile(url: string, name: string): void {
  count += 1;
  const id = count;
  put([...all, { id, name, state: "running", progress: { bytes: 0 }, missing: [], again: () => void run(id, url, name) }]);
  void run(id, url, name);
}

async function run(id: number, url: string, name: string): Promise<void> {
  const stop = new AbortController();
  stops.set(id, stop);
  change(id, { state: "running", progress: { bytes: 0 }, problem: undefined });
  try {
    const answer = await fetch(url, { credentials: "same-origin", signal: stop.signal });
    if (!answer.ok || answer.body === null) throw await problemOf(answer);
    const archive = new Archive((progress) => change(id, { progress }));
    const blob = await new Response(answer.body.pipeThrough(archive.stream)).blob();
    const typed = blob.slice(0, blob.size, answer.headers.get("content-type") ?? "");
    const missing = await archive.missing(typed);
    if (stop.signal.aborted) return;
    const href = URL.createObjectURL(typed);
    change(id, { state: "ready", href, missing });
    save(href, name);
  } catch (problem) {
    if (!stop.signal.aborted) change(id, { state: "failed", problem: problem instanceof Problem ? problem : new Problem(0, "OFFLINE", "The file broke off") });
  } finally {
    stops.delete(id);
  }
}

function save(href: string, name: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}
