// The time of the service, independent of the clock of this device, and texts for durations.
import { useEffect, useState } from "react";

let offsetMs = 0;

/** Adjusts the clock to a time in a response of the service. */
export function syncServerClock(now: string): void {
  const parsed = Date.parse(now);
  if (!Number.isNaN(parsed)) offsetMs = parsed - Date.now();
}

export const serverNow = (): number => Date.now() + offsetMs;

/** The time of the service, updated every second or at the given interval. */
export function useNow(every = 1000): number {
  const [moment, setMoment] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setMoment(serverNow()), every);
    return () => clearInterval(timer);
  }, [every]);
  return moment;
}

/** Minutes and seconds, `m:ss`. */
export function formatMinutes(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export type RemainingTime =
  | { unit: "days" | "hours" | "minutes"; count: number }
  | { unit: "seconds"; text: string }
  | { unit: "over"; seconds: number };

/** Time remaining until a moment, in one suitable unit. */
export function remainingTime(until: number, at: number): RemainingTime {
  const rest = until - at;
  if (rest < 0) return { unit: "over", seconds: -rest / 1000 };
  if (rest < 600_000) return { unit: "seconds", text: formatMinutes(rest) };
  if (rest < 5_400_000) return { unit: "minutes", count: Math.floor(rest / 60_000) };
  if (rest < 172_800_000) return { unit: "hours", count: Math.floor(rest / 3_600_000) };
  return { unit: "days", count: Math.floor(rest / 86_400_000) };
}

/** How late something is, in one suitable unit: the same for students and teachers. At least one minute. */
export function lateness(seconds: number): { unit: "minutes" | "hours" | "days"; count: number } {
  if (seconds < 5_400) return { unit: "minutes", count: Math.max(1, Math.floor(seconds / 60)) };
  if (seconds < 172_800) return { unit: "hours", count: Math.floor(seconds / 3_600) };
  return { unit: "days", count: Math.floor(seconds / 86_400) };
}
