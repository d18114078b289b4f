// Preferences of a user, stored in this browser per user because school computers are shared.
import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";

import { meQuery } from "../auth/session";

/** Single-key shortcuts and the groups on the projector (default on); a soft sound for help requests (default off). */
const DEFAULTS = { keys: true, chime: false, projectorGroups: true };
export type Preference = keyof typeof DEFAULTS;

const listeners = new Set<() => void>();
const key = (person: string, name: Preference) => `prefers:${person}:${name}`;

/** The preference of a user, or its default. */
export function getPreference(person: string, name: Preference): boolean {
  const kept = localStorage.getItem(key(person, name));
  return kept === null ? DEFAULTS[name] : kept === "1";
}

/** The preference of the signed-in user, with its setter. */
export function usePreference(name: Preference): [boolean, (likes: boolean) => void] {
  const { data: person } = useQuery(meQuery);
  const id = person?.id ?? "";
  const likes = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => getPreference(id, name),
  );
  const change = (next: boolean) => {
    localStorage.setItem(key(id, name), next ? "1" : "0");
    for (const listener of listeners) listener();
  };
  return [likes, change];
}
