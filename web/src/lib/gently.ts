import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** Makes questions stale at once, and then each at most once a second: a busy lesson sends many hints about the same thing. */
export function gently(cache: Pick<QueryClient, "invalidateQueries">, pause = 1000): (queryKey: QueryKey) => void {
  const resting = new Map<string, { again: boolean }>();
  const ask = (queryKey: QueryKey) => {
    const name = JSON.stringify(queryKey);
    const rest = resting.get(name);
    if (rest) {
      rest.again = true;
      return;
    }
    const fresh = { again: false };
    resting.set(name, fresh);
    void cache.invalidateQueries({ queryKey });
    setTimeout(() => {
      resting.delete(name);
      if (fresh.again) ask(queryKey);
    }, pause);
  };
  return ask;
}
