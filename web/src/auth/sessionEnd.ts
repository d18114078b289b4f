// A session that ends while a page is open: the page stays, a dialog asks to sign in again, and requests that were
// rejected wait for it and are sent again. Nothing that was typed is lost (shell/SignInAgain).
import { useSyncExternalStore } from "react";

let watchers = 0;
let isEnded = false;
/** Counts the sessions of this page: a rejection of an earlier one says nothing about the present one. */
let generation = 0;
let isLeaving = false;
let waiting: ((resumed: boolean) => void)[] = [];
const listeners = new Set<() => void>();

function publish(): void {
  for (const listener of listeners) listener();
}

function resolveWaiting(resumed: boolean): void {
  isEnded = false;
  generation += 1;
  for (const resolve of waiting.splice(0)) resolve(resumed);
  publish();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Whether the dialog has to be shown. */
export const useSessionEnded = (): boolean => useSyncExternalStore(subscribe, () => isEnded);

/** Another number after each sign-in over the page: what is bound to a session, like the live channel, begins again. */
export const useSessionGeneration = (): number => useSyncExternalStore(subscribe, () => generation);

/** From now on a page inside a school is open, and the end of its session asks for a new one. Returns how to stop. */
export function watchSession(): () => void {
  watchers += 1;
  return () => {
    watchers -= 1;
    if (watchers === 0 && isEnded) resolveWaiting(false);
  };
}

/** Asks to sign in again. Resolves to whether the same person has done so. */
export function requestSignIn(): Promise<boolean> {
  if (watchers === 0) return Promise.resolve(false);
  // A page that is being left for another session does not ask.
  isEnded = !isLeaving;
  publish();
  return new Promise((resolve) => waiting.push(resolve));
}

/** The same person is signed in again. */
export const resumeSession = (): void => resolveWaiting(true);

/** Nobody signs in again; what waits is rejected. */
export const abandonSession = (): void => resolveWaiting(false);

/** Whether the page is given up for another person: it must neither ask nor send anything on its way out. */
export const isPageAbandoned = (): boolean => isLeaving;

/** The session is about to be exchanged for another one: until `stayOnPage`, rejected requests wait and nothing is asked. */
export const beginSessionSwitch = (): void => void (isLeaving = true);

/** The exchange of the session failed. */
export function cancelSessionSwitch(): void {
  isLeaving = false;
  resolveWaiting(false);
}

/** Loads a page with nothing of what this page knew. */
export function loadFreshPage(path = "/"): void {
  isLeaving = true;
  window.location.replace(path);
}

/** GET requests to /api/auth/ in flight. For an ended session their responses delete the session cookie. */
const authReads = new Set<Promise<Response>>();

/** Resolves when no response in flight can delete the cookie of a sign-in that follows. */
export async function waitForAuthReads(): Promise<void> {
  await Promise.allSettled(authReads);
}

async function fetchAuthRead(request: Request): Promise<Response> {
  if (isEnded && !(await requestSignIn())) return new Response(null, { status: 401 });
  const read = fetch(request).finally(() => authReads.delete(read));
  authReads.add(read);
  return read;
}

/** Like `fetch`; a request that is rejected because the session has ended waits for the next one and is sent again. */
export async function fetchWithSession(request: Request): Promise<Response> {
  if (watchers === 0) return fetch(request);
  if (new URL(request.url).pathname.startsWith("/api/auth/")) return request.method === "GET" ? fetchAuthRead(request) : fetch(request);
  const copy = request.clone();
  const sentIn = generation;
  const response = await fetch(request);
  if (response.status !== 401) return response;
  const resumed = sentIn === generation ? await requestSignIn() : true;
  return resumed ? fetch(copy) : response;
}
