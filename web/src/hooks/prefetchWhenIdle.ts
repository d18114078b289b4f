import { useEffect, useState } from "react";

const requested = new Set<() => Promise<unknown>>();

/**
 * Prefetches code that is needed soon, once, after the visible content has loaded. Failures are ignored; the code is
 * requested again when needed.
 */
export function prefetchWhenIdle(load: () => Promise<unknown>, pause = 3000): void {
  if (requested.has(load)) return;
  requested.add(load);
  setTimeout(() => void load().catch(() => undefined), pause);
}

/** Whether the page has been idle for a while; non-essential content loads then. */
export function useIsIdle(pause = 1500): boolean {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIdle(true), pause);
    return () => clearTimeout(timer);
  }, [pause]);
  return isIdle;
}
