import { useEffect, useState } from "react";

/** A value once it has been still for a moment: what is typed is not asked about letter by letter. */
export function useSoon<T>(value: T, after = 500): T {
  const text = JSON.stringify(value);
  const [still, setStill] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setStill(text), after);
    return () => clearTimeout(timer);
  }, [text, after]);
  return JSON.parse(still) as T;
}
