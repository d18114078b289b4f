import { beforeEach, expect, test, vi } from "vitest";

import { deleteUnsentSteps, PENDING } from "./database";
import { browserStore, type RecordChange, type StoredRecord } from "./localStore";

const OWNER = { userId: "ana", documentId: "rivers" };

/** A browser without IndexedDB, as in some private windows, and without locks. */
beforeEach(() => {
  const values = new Map<string, string>();
  const storage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
  const ownKeys = () => [...values.keys()];
  const getOwnPropertyDescriptor = () => ({ enumerable: true, configurable: true });
  vi.stubGlobal("localStorage", new Proxy(storage, { ownKeys, getOwnPropertyDescriptor }));
  const open = () => {
    throw new DOMException("not allowed", "SecurityError");
  };
  vi.stubGlobal("indexedDB", { open, deleteDatabase: open });
  vi.stubGlobal("navigator", {});
});

const change = (key: string, steps: object[], replaces: string[] = []): RecordChange => ({
  record: { ...OWNER, key, generation: 1, version: 4, sent: undefined },
  keep: 0,
  added: steps,
  sentSteps: undefined,
  replaces,
});

async function adopted(key: string): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  const adopt = (stored: StoredRecord) => {
    found.push(stored);
    return Promise.resolve();
  };
  await browserStore.adoptRecords({ ...OWNER, key }, adopt, new AbortController().signal);
  return found;
}

test("without IndexedDB the next page adopts what the page before kept", async () => {
  const steps = [{ stepType: "replace", from: 1, to: 1 }];
  browserStore.keepPending(change("first", steps));
  await expect(browserStore.save(change("first", steps))).rejects.toThrow("not allowed");
  expect((await adopted("second")).map((stored) => stored.steps)).toEqual([steps]);
});

test("a record that another one replaces is not adopted again", async () => {
  browserStore.keepPending(change("first", [{ stepType: "replace" }]));
  browserStore.keepPending(change("second", [{ stepType: "replace" }], ["first"]));
  expect((await adopted("third")).map(({ record }) => record.key)).toEqual(["second"]);
});

test("a removed record is not adopted again", async () => {
  browserStore.keepPending(change("first", [{ stepType: "replace" }]));
  await browserStore.remove("first").catch(() => undefined);
  expect(await adopted("second")).toEqual([]);
});

test("a change that cannot be read does not hold back the others", async () => {
  localStorage.setItem(`${PENDING}damaged`, "{");
  browserStore.keepPending(change("first", [{ stepType: "replace" }]));
  expect((await adopted("second")).map(({ record }) => record.key)).toEqual(["first"]);
});

test("signing out deletes what is kept where IndexedDB is not allowed", async () => {
  browserStore.keepPending(change("first", [{ stepType: "replace" }]));
  await deleteUnsentSteps();
  expect(await adopted("second")).toEqual([]);
});
