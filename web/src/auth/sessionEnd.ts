// Handles a session that ends while a page is open: the page stays, a dialog asks the user to sign in again, and rejected
// requests wait for it and are sent again. No typed text is lost (auth/SignInAgainDialog).
import { useSyncExternalStore } from "react";

let watchers = 0;
let isEnded = false;
/** Counts the sessions of this page: a rejection from an earlier session is irrelevant for the current one. */
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

/** Changes after each sign-in over the page; whatever is bound to a session, like the realtime connection, restarts. */
export const useSessionGeneration = (): number => useSyncExternalStore(subscribe, () => generation);

/** Enables the dialog while a page inside a school is open. Returns the function that disables it. */
export function watchSession(): () => void {
  watchers += 1;
  return () => {
    watchers -= 1;
    if (watchers === 0 && isEnded) resolveWaiting(false);
  };
}

/** Asks the user to sign in again. Resolves to whether the same user has done so. */
export function requestSignIn(): Promise<boolean> {
  if (watchers === 0) return Promise.resolve(false);
  // A page that is being left for another session does not ask.
  isEnded = !isLeaving;
  publish();
  return new Promise((resolve) => waiting.push(resolve));
}

/** The same user is signed in again. */
export const resumeSession = (): void => resolveWaiting(true);

/** The user did not sign in again; waiting requests are rejected. */
export const abandonSession = (): void => resolveWaiting(false);

/** Whether the page is given up for another user and must not send anything any more. */
export const isPageAbandoned = (): boolean => isLeaving;

/**
 * The session is about to be replaced: until `cancelSessionSwitch`, rejected requests and reads of /api/auth/ wait and no
 * dialog is shown. Resolves when no response in flight can delete the cookie of the next session.
 */
export function beginSessionSwitch(): Promise<void> {
  isLeaving = true;
  return waitForAuthReads();
}

/** Replacing the session failed. */
export function cancelSessionSwitch(): void {
  isLeaving = false;
  resolveWaiting(false);
}

/** Loads a page without any state of the current one. */
export function loadFreshPage(path = "/"): void {
  isLeaving = true;
  window.location.replace(path);
}

/** GET requests to /api/auth/ in flight. For an ended session their responses delete the session cookie. */
const authReads = new Set<Promise<Response>>();

/** Resolves when no response in flight can delete the cookie of a following sign-in. */
export async function waitForAuthReads(): Promise<void> {
  await Promise.allSettled(authReads);
}

async function fetchAuthRead(request: Request): Promise<Response> {
  if (isLeaving) await requestSignIn();
  else if (isEnded && !(await requestSignIn())) return new Response(null, { status: 401 });
  const read = fetch(request).finally(() => authReads.delete(read));
  authReads.add(read);
  return read;
}

/** Like `fetch`; a request that is rejected because the session has ended waits for the next session and is sent again. */
export async function fetchWithSession(request: Request): Promise<Response> {
  if (watchers === 0) return fetch(request);
  if (new URL(request.url).pathname.startsWith("/api/auth/"))
    return request.method === "GET" ? fetchAuthRead(request) : fetch(request);
  const copy = request.clone();
  const sentIn = generation;
  const response = await fetch(request);
  if (response.status !== 401) return response;
  const resumed = sentIn === generation ? await requestSignIn() : true;
  return resumed ? fetch(copy) : response;
}
