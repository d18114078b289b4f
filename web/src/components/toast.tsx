import { lazy, Suspense, useEffect, useSyncExternalStore } from "react";

import { prefetchWhenIdle } from "../hooks/prefetchWhenIdle";

const loadRegion = () => import("./ToastRegion");
const ToastRegion = lazy(async () => ({ default: (await loadRegion()).ToastRegion }));

let isWanted = false;
const listeners = new Set<() => void>();

/**
 * Says what has just happened, for eight seconds, with the way back where there is one; answers how to take it away. `onGone` is
 * called when it is gone, undone or not: the clock rests while somebody points at it.
 */
export function toast(text: string, undo?: () => void, onGone?: () => void): () => void {
  isWanted = true;
  for (const listener of listeners) listener();
  const closer = loadRegion().then(({ toastQueue }) => {
    const key = toastQueue.add({ text, undo }, { timeout: 8_000, ...(onGone ? { onClose: onGone } : {}) });
    return () => toastQueue.close(key);
  });
  closer.catch(() => onGone?.());
  return () => void closer.then((close) => close()).catch(() => undefined);
}

/** Where notes appear; screen readers hear them. What draws them is fetched with the first one, or when everything else has come. */
export function Toasts() {
  useEffect(() => prefetchWhenIdle(loadRegion), []);
  const isNeeded = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isWanted,
  );
  return <Suspense>{isNeeded ? <ToastRegion /> : null}</Suspense>;
}
