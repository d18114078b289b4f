// Steps that the service has not confirmed, kept in this browser until it has. A record belongs to one page; a page that was
// closed or killed leaves its record, and the next page of the same user and document takes it over.

import { DATABASE, PENDING } from "./database";

/** What one page has not got confirmed. Steps are JSON. */
export interface UnsentRecord {
  /** The client id of the page. */
  key: string;
  userId: string;
  documentId: string;
  generation: number;
  /** Version on which the steps are based. */
  version: number;
  /** The commit in flight, and how many of the record's steps are its steps. */
  sent: { ref: string; version: number; count: number } | undefined;
}

/** The page that looks for records of others. */
export type RecordOwner = Pick<UnsentRecord, "key" | "userId" | "documentId">;

export interface StoredRecord {
  record: UnsentRecord;
  /** The unconfirmed steps, based on the version of the record. */
  steps: object[];
  /** The steps of the commit in flight as they were sent, based on its own version. */
  sentSteps: object[];
}

/** Text that could not be added to a document, kept until its writer has dismissed it. */
export interface Remainder {
  id: string;
  userId: string;
  documentId: string;
  text: string;
  at: number;
}

export interface RecordChange {
  record: UnsentRecord;
  keep: number;
  added: readonly object[];
  /** New steps of the commit in flight; undefined if they are those of the last call. */
  sentSteps: readonly object[] | undefined;
  /** Records that are deleted in the same transaction, because this record has their steps. */
  replaces: readonly string[];
}

export interface LocalStore {
  /**
   * Keeps a change synchronously until `save` has stored it, so that a page that ends in between loses nothing. The next change
   * of the record replaces it: each has to be based on what is stored. Where IndexedDB is not available, the last one is the record.
   */
  keepPending: (change: RecordChange) => void;
  dropPending: (key: string) => void;
  /** Writes a record: from index `keep` on the steps `added`, before it those of the last call. */
  save: (change: RecordChange) => Promise<void>;
  remove: (key: string) => Promise<void>;
  /**
   * Calls `adopt` with each record of this user and document whose page has ended, and resolves after the last one. A page that
   * still runs may end until `signal` aborts; then its record is adopted. No other page adopts a record until `adopt` resolves.
   */
  adoptRecords: (
    owner: RecordOwner,
    adopt: (stored: StoredRecord) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<void>;
  saveRemainder: (remainder: Remainder) => Promise<void>;
  removeRemainder: (id: string) => Promise<void>;
  remainders: (userId: string, documentId: string) => Promise<Remainder[]>;
}

const lockName = (key: string) => `groupwork-editor:${key}`;

let opened: Promise<IDBDatabase> | undefined;
/** Records of this page whose document was closed. Their lock may be held for a moment. */
const released = new Set<string>();

function open(): Promise<IDBDatabase> {
  opened ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.addEventListener("upgradeneeded", () => {
      const { result } = request;
      result.createObjectStore("records", { keyPath: "key" });
      result.createObjectStore("steps");
      result.createObjectStore("remainders", { keyPath: "id" });
    });
    request.addEventListener("success", () => {
      const { result } = request;
      const forget = () => (opened = undefined);
      // Another page signs out and deletes the database.
      result.addEventListener("versionchange", () => {
        result.close();
        forget();
      });
      result.addEventListener("close", forget);
      resolve(result);
    });
    request.addEventListener("error", () => reject(request.error ?? new Error("IndexedDB is not available")));
  });
  opened.catch(() => (opened = undefined));
  return opened;
}

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("IndexedDB failed")));
  });

async function write(stores: string[], run: (transaction: IDBTransaction) => void): Promise<void> {
  const transaction = (await open()).transaction(stores, "readwrite");
  const complete = new Promise<void>((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("IndexedDB aborted")));
  });
  run(transaction);
  await complete;
}

/** Keys of the steps of a record: `[record, index]`; the steps of its commit in flight are one list at the index -1. */
const SENT = -1;
const stepsOf = (key: string, from = 0) => IDBKeyRange.bound([key, from], [key, Infinity]);

function deleteRecord(transaction: IDBTransaction, key: string): void {
  transaction.objectStore("records").delete(key);
  transaction.objectStore("steps").delete(stepsOf(key, SENT));
}

const pendingKey = (key: string) => `${PENDING}${key}`;

/** The change that a page could not store before it ended. One that cannot be read must not hold back the other records. */
function pendingChange(key: string): RecordChange | undefined {
  try {
    const text = localStorage.getItem(pendingKey(key));
    return text === null ? undefined : (JSON.parse(text) as RecordChange);
  } catch {
    return undefined;
  }
}

function pendingKeys(): string[] {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(PENDING));
    return keys.map((key) => key.slice(PENDING.length));
  } catch {
    return [];
  }
}

/** The record of a page that could store nothing: then its last change has all steps. */
function unstoredRecord({ record, keep, added, sentSteps }: RecordChange): StoredRecord | undefined {
  return keep === 0 ? { record, steps: [...added], sentSteps: [...(sentSteps ?? [])] } : undefined;
}

async function storedRecords(): Promise<UnsentRecord[]> {
  const store = (await open()).transaction("records").objectStore("records");
  return (await done(store.getAll())) as UnsentRecord[];
}

async function readRecord(key: string): Promise<StoredRecord | undefined> {
  const transaction = (await open()).transaction(["records", "steps"]);
  const store = transaction.objectStore("steps");
  const [record, sent, steps] = await Promise.all([
    done(transaction.objectStore("records").get(key)) as Promise<UnsentRecord | undefined>,
    done(store.get([key, SENT])) as Promise<object[] | undefined>,
    done(store.getAll(stepsOf(key))) as Promise<object[]>,
  ]);
  return record && { record, steps, sentSteps: sent ?? [] };
}

/** Keys of the records of this user and document, except that of the page itself. */
async function otherKeys({ key: own, userId, documentId }: RecordOwner): Promise<Set<string>> {
  const pending = pendingKeys().flatMap((key) => pendingChange(key)?.record ?? []);
  const all = [...pending, ...(await storedRecords().catch(() => []))];
  const others = all.filter((one) => one.userId === userId && one.documentId === documentId && one.key !== own);
  return new Set(others.map(({ key }) => key));
}

/** The store of this browser. A page holds a lock with the name of its record as long as it lives. */
export const browserStore: LocalStore = {
  keepPending: (change) => {
    try {
      localStorage.setItem(pendingKey(change.record.key), JSON.stringify(change));
      for (const key of change.replaces) browserStore.dropPending(key);
    } catch {
      // The storage is full or not allowed. A former change must not overwrite what is stored later.
      browserStore.dropPending(change.record.key);
    }
  },
  dropPending: (key) => {
    try {
      localStorage.removeItem(pendingKey(key));
    } catch {
      // Without this storage there is no pending change.
    }
  },
  save: ({ record, keep, added, sentSteps, replaces }) =>
    write(["records", "steps"], (transaction) => {
      transaction.objectStore("records").put(record);
      const store = transaction.objectStore("steps");
      store.delete(stepsOf(record.key, keep));
      added.forEach((step, index) => store.put(step, [record.key, keep + index]));
      if (sentSteps !== undefined) store.put(sentSteps, [record.key, SENT]);
      for (const key of replaces) deleteRecord(transaction, key);
    }),
  remove: (key) => {
    browserStore.dropPending(key);
    return write(["records", "steps"], (transaction) => deleteRecord(transaction, key));
  },
  adoptRecords: async (owner, adopt, signal) => {
    const adoptRecord = async (key: string) => {
      const change = pendingChange(key);
      let stored: StoredRecord | undefined;
      try {
        if (change !== undefined) {
          await browserStore.save(change);
          browserStore.dropPending(key);
        }
        stored = await readRecord(key);
      } catch {
        stored = change && unstoredRecord(change);
      }
      if (stored !== undefined) await adopt(stored);
    };
    for (const key of await otherKeys(owner)) {
      const isAdopted = await withLock(key, () => adoptRecord(key)).catch(() => true);
      // The page runs, or it has ended a moment ago: browsers may release its lock after the next page has started.
      if (!isAdopted) navigator.locks.request(lockName(key), { signal }, () => adoptRecord(key)).catch(() => undefined);
    }
  },
  saveRemainder: (remainder) =>
    write(["remainders"], (transaction) => transaction.objectStore("remainders").put(remainder)),
  removeRemainder: (id) => write(["remainders"], (transaction) => transaction.objectStore("remainders").delete(id)),
  remainders: async (userId, documentId) => {
    const store = (await open()).transaction("remainders").objectStore("remainders");
    const all = (await done(store.getAll())) as Remainder[];
    return all.filter((one) => one.userId === userId && one.documentId === documentId);
  },
};

/** Holds the lock of a record until the returned function is called or the page ends. Browsers have locks on secure pages only. */
export function holdRecord(key: string): () => void {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  void navigator.locks?.request(lockName(key), () => held);
  return () => {
    released.add(key);
    release();
  };
}

/** Runs `adopt` with the lock of a record. Returns false if its page holds the lock. */
async function withLock(key: string, adopt: () => Promise<void>): Promise<boolean> {
  if (navigator.locks === undefined) {
    await adopt();
    return true;
  }
  return navigator.locks.request(lockName(key), { ifAvailable: !released.has(key) }, async (lock) => {
    if (lock !== null) await adopt();
    return lock !== null;
  });
}
