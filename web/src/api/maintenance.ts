// The maintenance mode of the installation: everything can be read, nothing can be changed. Every response during it has a
// header, so pages send no extra requests at other times; while it is on, they ask until it ends.
import { useSyncExternalStore } from "react";

export interface Maintenance {
  /** The text of the operator. */
  message: string | null;
}

const POLL_INTERVAL_MS = 5_000;

let current: Maintenance | null = null;
let isPolling = false;
const listeners = new Set<() => void>();

function publish(next: Maintenance | null): void {
  if (next?.message === current?.message && (next === null) === (current === null)) return;
  current = next;
  for (const listener of listeners) listener();
}

async function poll(): Promise<void> {
  const response = await fetch("/api/health").catch(() => null);
  // Without a response the mode is unknown: the last one stays.
  if (response?.ok) publish(((await response.json()) as { maintenance: Maintenance | null }).maintenance);
  if (current === null) isPolling = false;
  else setTimeout(() => void poll(), POLL_INTERVAL_MS);
}

/** Looks for the announcement of maintenance in the headers of a response. */
export function checkMaintenance(announcement: string | null): void {
  if (announcement !== "on" || isPolling) return;
  isPolling = true;
  publish({ message: null });
  void poll();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The maintenance mode, while it is on. */
export const useMaintenance = (): Maintenance | null => useSyncExternalStore(subscribe, () => current);
