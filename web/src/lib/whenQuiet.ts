import { useEffect, useState } from "react";

const asked = new Set<() => Promise<unknown>>();

/** Fetches a part of the page that is wanted soon anyway, once, after what is shown has come. What fails is asked for when it is wanted. */
export function whenQuiet(load: () => Promise<unknown>, pause = 3000): void {
  if (asked.has(load)) return;
  asked.add(load);
  setTimeout(() => void load().catch(() => undefined), pause);
}

/** Whether the page has stood for a while: what nobody misses at first is asked for then. */
export function useQuiet(pause = 1500): boolean {
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(true), pause);
    return () => clearTimeout(timer);
  }, [pause]);
  return isQuiet;
}
