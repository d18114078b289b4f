// Which school this page shows. Every request names it, so that nothing happens in another school that was chosen in
// another tab: the service then returns 409, and the page asks the user where to go on.
import { useSyncExternalStore } from "react";

interface PageSchool {
  id: string;
  name: string;
}

interface State {
  school: PageSchool | null;
  /** Whether the session works in another school than this page shows. */
  isChanged: boolean;
}

let state: State = { school: null, isChanged: false };
const listeners = new Set<() => void>();

function set(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

/** The header that names the school of this page; none before a school is shown. */
export const pageSchoolHeaders = (): Record<string, string> => (state.school ? { "X-Organization-Id": state.school.id } : {});

/** The school of this page; null before a school is shown. */
export const getPageSchool = (): PageSchool | null => state.school;

/** Sets the school of this page when it is opened. A page that shows a school keeps it until `clearShown`. */
export function setPageSchool(active: PageSchool | null): void {
  if (state.school === null) set({ school: active && { id: active.id, name: active.name }, isChanged: false });
  else if (active?.id !== state.school.id) set({ ...state, isChanged: true });
}

/** The page shows no school any more: another one was chosen here, or the user signed out. */
export const clearPageSchool = (): void => set({ school: null, isChanged: false });

/** How often the session came back to the school of this page. */
let generation = 0;
export const pageSchoolGeneration = (): number => generation;

/** The session works in the school of this page again. */
export function markSchoolRestored(): void {
  generation += 1;
  set({ ...state, isChanged: false });
}

/** Looks for the error code that says that the session works in another school. A response to a request of an earlier generation is out of date. */
export function checkSchoolChanged(code: string | undefined, sentIn: number = generation): void {
  if (sentIn === generation && code === "ORGANIZATION_CHANGED" && state.school !== null && !state.isChanged) set({ ...state, isChanged: true });
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The school of this page, while the session works in another one; else null. */
export const useChangedSchool = (): PageSchool | null => useSyncExternalStore(subscribe, () => (state.isChanged ? state.school : null));
