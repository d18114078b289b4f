// The database of unsent changes. This module is small, because signing out needs it on every page.
export const DATABASE = "groupwork-editor";
/** Beginning of the keys of changes that are not in the database yet. */
export const PENDING = `${DATABASE}:`;

/**
 * Deletes everything that is kept in this browser, when a user signs out of a shared computer. Open pages close their connection
 * when they are notified.
 */
export function deleteUnsentSteps(): Promise<void> {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PENDING)) localStorage.removeItem(key);
  const deleted = new Promise<void>((resolve) => {
    const request = indexedDB.deleteDatabase(DATABASE);
    for (const event of ["success", "error", "blocked"]) request.addEventListener(event, () => resolve());
  });
  // Some browsers do not even allow the request; then there is no database.
  return deleted.catch(() => undefined);
}

/** Sends what open documents have not sent yet; returns whether anything is left. */
type Flush = () => Promise<boolean>;
const open = new Set<Flush>();

/** Registers an open document. Returns the function that removes it. */
export function registerDocument(flush: Flush): () => void {
  open.add(flush);
  return () => void open.delete(flush);
}

/** Sends what open documents have not sent yet, before the user signs out. Gives up after `timeout` milliseconds. */
export async function flushDocuments(timeout = 4_000): Promise<boolean> {
  const limit = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), timeout));
  const all = Promise.all([...open].map((flush) => flush().catch(() => false)));
  return Promise.race([all.then((results) => results.every(Boolean)), limit]);
}
