// Whether the open document is saved, reported by its editor and shown in the bar of the room.
import { useSyncExternalStore } from "react";

/** `saving`: changes are on their way to the service; `unsent`: they wait on this device; `view`: the document is read-only. */
export type SaveState = "saved" | "saving" | "unsent" | "offline" | "view" | "freezing";

let state: SaveState | undefined;
let unsentCount = 0;
const listeners = new Set<() => void>();

/** Sets the state; undefined without an open editor. `count` changes wait on this device. */
export function reportSaveState(next: SaveState | undefined, count = 0): void {
  state = next;
  unsentCount = count;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useSaveState = (): SaveState | undefined => useSyncExternalStore(subscribe, () => state);

/** How many changes wait on this device; 0 where the editor does not count them. */
export const useUnsentCount = (): number => useSyncExternalStore(subscribe, () => unsentCount);
