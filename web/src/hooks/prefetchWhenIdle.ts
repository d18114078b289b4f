import { useEffect, useState } from "react";

const requested = new Set<() => Promise<unknown>>();

/** Fetches a part of the page that is wanted soon anyway, once, after what is shown has come. What fails is asked for when it is wanted. */
export function prefetchWhenIdle(load: () => Promise<unknown>, pause = 3000): void {
  if (requested.has(load)) return;
  requested.add(load);
  setTimeout(() => void load().catch(() => undefined), pause);
}

/** Whether the page has stood for a while: what nobody misses at first is asked for then. */
export function useIsIdle(pause = 1500): boolean {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIdle(true), pause);
    return () => clearTimeout(timer);
  }, [pause]);
  return isIdle;
}
