import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** Invalidates queries immediately, then at most once per interval for each key: a busy lesson emits many events about the same object. */
export function throttleInvalidation(
  cache: Pick<QueryClient, "invalidateQueries">,
  intervalMs = 1000,
): (queryKey: QueryKey) => void {
  const pending = new Map<string, { again: boolean }>();
  const invalidate = (queryKey: QueryKey) => {
    const name = JSON.stringify(queryKey);
    const running = pending.get(name);
    if (running) {
      running.again = true;
      return;
    }
    const entry = { again: false };
    pending.set(name, entry);
    void cache.invalidateQueries({ queryKey });
    setTimeout(() => {
      pending.delete(name);
      if (entry.again) invalidate(queryKey);
    }, intervalMs);
  };
  return invalidate;
}
