// What somebody likes, kept in this browser under his name: school computers are shared.
import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";

import { meQuery } from "../auth/session";

/** Single keys as shortcuts (on unless switched off); a soft sound when a group asks for help (off unless switched on). */
const DEFAULTS = { keys: true, chime: false };
export type Preference = keyof typeof DEFAULTS;

const listeners = new Set<() => void>();
const key = (person: string, name: Preference) => `prefers:${person}:${name}`;

/** What a person likes, or what is usual. */
export function getPreference(person: string, name: Preference): boolean {
  const kept = localStorage.getItem(key(person, name));
  return kept === null ? DEFAULTS[name] : kept === "1";
}

/** What the person who is signed in likes, and how to change it. */
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
