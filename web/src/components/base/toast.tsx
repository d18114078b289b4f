import { Suspense, useEffect, useSyncExternalStore } from "react";

import { prefetchWhenIdle } from "../../hooks/prefetchWhenIdle";
import { lazyPart } from "../lazyPart";

const loadRegion = () => import("../ToastRegion");
const ToastRegion = lazyPart(async () => (await loadRegion()).ToastRegion);

let isWanted = false;
const listeners = new Set<() => void>();

/**
 * Shows a toast for eight seconds, optionally with an action, "undo" unless it has another name; returns the function that
 * closes it. `onGone` is called when it closes, undone or not. The timer pauses while the pointer is on the toast.
 */
export function toast(text: string, undo?: () => void, onGone?: () => void, name?: string): () => void {
  isWanted = true;
  for (const listener of listeners) listener();
  const closer = loadRegion().then(({ toastQueue }) => {
    const key = toastQueue.add({ text, undo, name }, { timeout: 8_000, ...(onGone ? { onClose: onGone } : {}) });
    return () => toastQueue.close(key);
  });
  closer.catch(() => onGone?.());
  return () => void closer.then((close) => close()).catch(() => undefined);
}

/** Region of the toasts. Its code is loaded with the first toast, or when the page is idle. */
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
