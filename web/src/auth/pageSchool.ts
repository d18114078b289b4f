// The school that this page shows. Every request names it, so that nothing happens in a school that was selected in another
// tab: the service then returns 409, and the page asks the user how to continue.
import { useSyncExternalStore } from "react";

interface PageSchool {
  id: string;
  name: string;
}

interface PageSchoolState {
  school: PageSchool | null;
  /** Whether the active school of the session differs from the school of this page. */
  isChanged: boolean;
}

let state: PageSchoolState = { school: null, isChanged: false };
const listeners = new Set<() => void>();

function set(next: PageSchoolState): void {
  state = next;
  for (const listener of listeners) listener();
}

/** The header that names the school of this page; none before a school is shown. */
export const pageSchoolHeaders = (): Record<string, string> =>
  state.school ? { "X-Organization-Id": state.school.id } : {};

/** The school of this page; null before a school is shown. */
export const getPageSchool = (): PageSchool | null => state.school;

/** Sets the school of this page when it is opened. A page keeps its school until `clearPageSchool`. */
export function setPageSchool(active: PageSchool | null): void {
  if (state.school === null) set({ school: active && { id: active.id, name: active.name }, isChanged: false });
  else if (active?.id !== state.school.id) set({ ...state, isChanged: true });
}

/** The page shows no school any more: the user selected another one here, or signed out. */
export const clearPageSchool = (): void => set({ school: null, isChanged: false });

/** Counts how often the session returned to the school of this page. */
let generation = 0;
export const pageSchoolGeneration = (): number => generation;

/** The active school is the school of this page again. */
export function markSchoolRestored(): void {
  generation += 1;
  set({ ...state, isChanged: false });
}

/** Checks a response for the error code of a changed school. Responses to requests of an earlier generation are ignored. */
export function checkSchoolChanged(code: string | undefined, sentIn: number = generation): void {
  if (sentIn === generation && code === "ORGANIZATION_CHANGED" && state.school !== null && !state.isChanged)
    set({ ...state, isChanged: true });
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The school of this page while another one is active; else null. */
export const useChangedSchool = (): PageSchool | null =>
  useSyncExternalStore(subscribe, () => (state.isChanged ? state.school : null));
