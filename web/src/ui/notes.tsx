import { lazy, Suspense, useSyncExternalStore } from "react";

const fetchList = () => import("./NoteList");
const NoteList = lazy(async () => ({ default: (await fetchList()).NoteList }));

// Most visits begin with nothing to say: what shows notes comes with the first.
let isWanted = false;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Says what has just happened, for eight seconds, with the way back where there is one; answers how to take it away. */
export function note(text: string, undo?: () => void): () => void {
  isWanted = true;
  for (const listener of listeners) listener();
  const close = fetchList().then(({ notes }) => {
    const key = notes.add({ text, undo }, { timeout: 8_000 });
    return () => notes.close(key);
  });
  return () => void close.then((now) => now());
}

/** Where notes appear. */
export function Notes() {
  return useSyncExternalStore(subscribe, () => isWanted) ? (
    <Suspense>
      <NoteList />
    </Suspense>
  ) : null;
}
