import { lazy, Suspense, useEffect, useSyncExternalStore } from "react";

import { prefetchWhenIdle } from "../hooks/prefetchWhenIdle";

const load = () => import("./NoteRegion");
const NoteRegion = lazy(async () => ({ default: (await load()).NoteRegion }));

let isWanted = false;
const listeners = new Set<() => void>();

/**
 * Says what has just happened, for eight seconds, with the way back where there is one; answers how to take it away. `onGone` is
 * called when it is gone, undone or not: the clock rests while somebody points at it.
 */
export function note(text: string, undo?: () => void, onGone?: () => void): () => void {
  isWanted = true;
  for (const listener of listeners) listener();
  const shown = load().then(({ notes }) => {
    const key = notes.add({ text, undo }, { timeout: 8_000, ...(onGone ? { onClose: onGone } : {}) });
    return () => notes.close(key);
  });
  shown.catch(() => onGone?.());
  return () => void shown.then((close) => close()).catch(() => undefined);
}

/** Where notes appear; screen readers hear them. What draws them is fetched with the first one, or when everything else has come. */
export function Notes() {
  useEffect(() => prefetchWhenIdle(load), []);
  const isNeeded = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isWanted,
  );
  return <Suspense>{isNeeded ? <NoteRegion /> : null}</Suspense>;
}
