const asked = new Set<() => Promise<unknown>>();

/** Fetches a part of the page that is wanted soon anyway, once, after what is shown has come. What fails is asked for when it is wanted. */
export function whenQuiet(load: () => Promise<unknown>, pause = 3000): void {
  if (asked.has(load)) return;
  asked.add(load);
  setTimeout(() => void load().catch(() => undefined), pause);
}
