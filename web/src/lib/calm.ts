import { useEffect, useState } from "react";

/** What was typed, once the fingers rest: the service is not asked for every letter. */
export function useCalm(text: string, wait = 200): string {
  const [calm, setCalm] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(text), wait);
    return () => clearTimeout(timer);
  }, [text, wait]);
  return calm;
}
