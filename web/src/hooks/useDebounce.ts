import { useEffect, useState } from "react";

/** Returns the value after it has not changed for `delay` milliseconds, so that not every keystroke sends a request. */
export function useDebounce<T>(value: T, delay = 200): T {
  const text = JSON.stringify(value);
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), delay);
    return () => clearTimeout(timer);
  }, [text, delay]);
  return JSON.parse(debounced) as T;
}
