import { EditorState } from "prosemirror-state";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { schema } from "../document/schema";
import { type Authority, CommitRejected } from "./commits";
import { insertedText } from "./insertedText";
import type { LocalStore, RecordChange, RecordOwner, StoredRecord } from "./localStore";
import { MemoryAuthority } from "./memoryAuthority";
import { EditingSession, type SaveState } from "./session";
import { collaboration } from "./unconfirmed";

/** A store that survives pages, like that of a browser. */
class FakeStore implements LocalStore {
  records = new Map<string, StoredRecord>();
  pending = new Map<string, RecordChange>();
  alive = new Set<string>();
  /** Whether writes never end, as those of a page that is about to end. */
  isStuck = false;

  save({ record, keep, added, sentSteps, replaces }: RecordChange): Promise<void> {
    if (this.isStuck) return new Promise(() => undefined);
    const known = this.records.get(record.key);
    this.records.set(record.key, {
      record,
      steps: JSON.parse(JSON.stringify([...(known?.steps.slice(0, keep) ?? []), ...added])) as object[],
      sentSteps: (sentSteps as object[] | undefined) ?? known?.sentSteps ?? [],
    });
    for (const key of replaces) this.records.delete(key);
    return Promise.resolve();
  }
  remove(key: string) {
    this.records.delete(key);
    return Promise.resolve();
  }
  keepPending(change: RecordChange) {
    this.pending.set(change.record.key, JSON.parse(JSON.stringify(change)) as RecordChange);
  }
  dropPending(key: string) {
    this.pending.delete(key);
  }
  async adoptRecords(_: RecordOwner, adopt: (stored: StoredRecord) => Promise<void>) {
    for (const [key, change] of this.pending) {
      if (this.alive.has(key)) continue;
      await this.save(change);
      this.dropPending(key);
    }
    for (const stored of [...this.records.values()]) if (!this.alive.has(stored.record.key)) await adopt(stored);
  }
  saveRemainder() {
    return Promise.resolve();
  }
  removeRemainder() {
    return Promise.resolve();
  }
  remainders() {
    return Promise.resolve([]);
  }
}

class Network implements Authority {
  isDown = false;
  /** The service receives the commit, the client never gets the response. */
  losesResponses = false;
  delay = 0;
  constructor(readonly authority: MemoryAuthority) {}
  async commitsSince(version: number) {
    if (this.isDown) throw new TypeError("network");
    return this.authority.commitsSince(version);
  }
  async append(commit: Parameters<Authority["append"]>[0]) {
    if (this.isDown) throw new TypeError("network");
    await new Promise((resolve) => setTimeout(resolve, this.delay));
    const commits = await this.authority.append(commit);
    if (this.losesResponses) throw new TypeError("network");
    return commits;
  }
  subscribe(listener: Parameters<Authority["subscribe"]>[0]) {
    return this.authority.subscribe((commits) => this.isDown || listener(commits));
  }
}

const newDoc = (text: string) =>
  schema.node("doc", null, [schema.node("paragraph", null, text === "" ? [] : [schema.text(text)])]);

class Page {
  state: EditorState;
  saveState: SaveState = { kind: "saved" };
  remainders: string[] = [];
  lateCount = 0;
  session: EditingSession;

  constructor(name: string, network: Network, store: FakeStore, generation = 1, old = network) {
    this.state = EditorState.create({
      doc: network.authority.doc,
      plugins: [collaboration(network.authority.version)],
    });
    store.alive.add(name);
    const identity = { clientId: name, userId: "ana", documentId: "d", generation, isOpen: true };
    this.session = new EditingSession(identity, (each) => (each === generation ? network : old), store, {
      state: () => this.state,
      update: (state) => void (this.state = state),
      onSaveState: (state) => void (this.saveState = state),
      onRemainder: (text) => this.remainders.push(text),
      onLate: () => void (this.lateCount += 1),
    });
    void this.session.start();
  }

  type(text: string, at = this.state.doc.content.size - 1) {
    this.state = this.state.apply(this.state.tr.insertText(text, at));
    this.session.changed();
  }

  get text() {
    return this.state.doc.textContent;
  }
}

const settle = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds);

describe("EditingSession", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const open = (text = "") => {
    const authority = new MemoryAuthority(newDoc(text));
    const network = new Network(authority);
    const store = new FakeStore();
    return { authority, network, store };
  };

  it("stores a step before it is sent, and deletes it after it is confirmed", async () => {
    const { authority, network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    network.delay = 100;
    page.type("hello");
    await settle(50);
    expect(authority.doc.textContent).toBe("");
    expect(store.records.get("one")).toMatchObject({ record: { sent: { ref: "one-1", version: 0, count: 1 } } });
    expect(store.records.get("one")?.steps).toHaveLength(1);
    await settle(300);
    expect(authority.doc.textContent).toBe("hello");
    expect(store.records.size).toBe(0);
    expect(page.saveState).toEqual({ kind: "saved" });
  });

  it("counts unsent changes while the service cannot be reached, and sends them afterwards", async () => {
    const { authority, network, store } = open("x");
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("a");
    page.type("b");
    page.type("c", 1);
    await settle(400);
    expect(page.saveState).toEqual({ kind: "unsent", count: 2, isOffline: true });
    network.isDown = false;
    await settle(11_000);
    expect(authority.doc.textContent).toBe("cxab");
    expect(page.saveState).toEqual({ kind: "saved" });
  });

  it("appends a commit once whose response was lost, also after a reload", async () => {
    const { authority, network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    network.losesResponses = true;
    page.type("once");
    await settle(300);
    page.session.close();
    store.alive.delete("one");
    expect(authority.doc.textContent).toBe("once");
    network.losesResponses = false;
    const next = new Page("two", network, store);
    await settle(1_000);
    expect(authority.doc.textContent).toBe("once");
    expect(next.text).toBe("once");
    expect(store.records.size).toBe(0);
  });

  it("sends what a killed page has stored, rebased over the changes of others", async () => {
    const { authority, network, store } = open("end");
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("mine ", 1);
    page.type("too ", 6);
    await settle(5_000);
    page.session.close();
    store.alive.delete("one");
    network.isDown = false;
    const { tr } = EditorState.create({ doc: authority.doc });
    authority.appendNow({ ref: "other", version: 0, steps: tr.insertText("! ", 1).steps });
    const next = new Page("two", network, store);
    await settle(1_000);
    expect(authority.doc.textContent).toBe("! mine too end");
    expect(next.text).toBe("! mine too end");
    expect(store.records.size).toBe(0);
  });

  it("sends what a page could not store before it ended", async () => {
    const { authority, network, store } = open("end");
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("stored ", 1);
    await settle(100);
    store.isStuck = true;
    page.type("and pending ", 8);
    page.session.close();
    store.alive.delete("one");
    expect(store.records.get("one")?.steps).toHaveLength(1);
    store.isStuck = false;
    network.isDown = false;
    const next = new Page("two", network, store);
    await settle(1_000);
    expect(authority.doc.textContent).toBe("stored and pending end");
    expect(next.text).toBe("stored and pending end");
    expect([store.records.size, store.pending.size]).toEqual([0, 0]);
  });

  it("takes over a closed page when the service can be reached again", async () => {
    const { authority, network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("early");
    await settle(100);
    page.session.close();
    store.alive.delete("one");
    const next = new Page("two", network, store);
    await settle(3_000);
    next.type("new");
    await settle(1_000);
    network.isDown = false;
    await settle(20_000);
    expect(authority.doc.textContent).toHaveLength("earlynew".length);
    expect(next.text).toBe(authority.doc.textContent);
    expect(store.records.size).toBe(0);
  });

  it("offers a record that does not fit the log to its writer", async () => {
    const { network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("sent");
    await settle(100);
    page.type(" kept");
    await settle(100);
    page.session.close();
    store.alive.delete("one");
    network.isDown = false;
    vi.spyOn(network, "commitsSince").mockResolvedValue([{ version: 5, ref: "x", userId: null, steps: [] }]);
    const append = vi.spyOn(network, "append");
    const next = new Page("two", network, store);
    await settle(60_000);
    expect(append.mock.calls.filter(([{ ref }]) => ref === "one-1")).toHaveLength(1);
    expect(next.remainders).toEqual([" kept"]);
    expect(store.records.size).toBe(0);
  });

  it("sends all text of a closed page as late when its topic is finished before it is taken over", async () => {
    const { authority, network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("in flight");
    await settle(100);
    page.type(", after it");
    await settle(100);
    page.session.close();
    store.alive.delete("one");
    const next = new Page("two", network, store);
    await settle(1_000);
    authority.closed = "late";
    network.isDown = false;
    const append = vi.spyOn(network, "append");
    await settle(20_000);
    const sent = append.mock.calls.map(([{ ref, steps }]) => [ref, insertedText(steps)]);
    expect(sent.slice(-2)).toEqual([
      ["one-1", "in flight"],
      ["one-late", ", after it"],
    ]);
    expect(next.lateCount).toBe(1);
    expect(store.records.size).toBe(0);
  });

  it("offers late text of a closed page whose place is gone to its writer", async () => {
    const { authority, network, store } = open("all of this is deleted");
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("mine ", 8);
    await settle(100);
    page.session.close();
    store.alive.delete("one");
    const { tr } = EditorState.create({ doc: authority.doc });
    authority.appendNow({ ref: "other", version: 0, steps: tr.delete(1, 23).steps });
    network.isDown = false;
    vi.spyOn(authority, "append").mockImplementation(({ ref }) => {
      if (ref === "one-1") return Promise.resolve(authority.commitsSince(0));
      return Promise.reject(new CommitRejected("late"));
    });
    const next = new Page("two", new Network(new MemoryAuthority(newDoc("new"))), store, 2, network);
    await settle(1_000);
    expect(next.remainders).toEqual(["mine "]);
    expect(store.records.size).toBe(0);
  });

  it("takes over a closed page while it receives the changes of others", async () => {
    const { authority, network, store } = open("end");
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("mine ", 1);
    await settle(100);
    page.type("too ", 6);
    await settle(100);
    page.session.close();
    store.alive.delete("one");
    network.isDown = false;
    const { commitsSince } = network;
    vi.spyOn(network, "commitsSince").mockImplementationOnce(async (version) => {
      const known = await commitsSince.call(network, version);
      // The next commit is announced before the response has arrived.
      const { tr } = EditorState.create({ doc: authority.doc });
      authority.appendNow({
        ref: "other",
        version: authority.version,
        steps: tr.insertText("long beginning ", 1).steps,
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
      return known;
    });
    const next = new Page("two", network, store);
    await settle(2_000);
    expect(authority.doc.textContent).toBe("long beginning mine too end");
    expect(next.text).toBe("long beginning mine too end");
    expect(next.remainders).toEqual([]);
  });

  it("leaves a record to the next page when it is closed while it takes it over", async () => {
    const { authority, network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    page.type("once");
    await settle(300);
    page.session.close();
    store.alive.delete("one");
    network.isDown = false;
    // What it sends is not announced to it before it is closed.
    vi.spyOn(network, "subscribe").mockReturnValueOnce(() => undefined);
    const { commitsSince } = network;
    vi.spyOn(network, "commitsSince").mockImplementationOnce(async (version) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return commitsSince.call(network, version);
    });
    const closed = new Page("two", network, store);
    await settle(20);
    closed.session.close();
    store.alive.delete("two");
    await settle(100);
    const last = new Page("three", network, store);
    await settle(1_000);
    expect(authority.doc.textContent).toBe("once");
    expect(last.text).toBe("once");
    expect(store.records.size).toBe(0);
  });

  it("takes over several closed pages", async () => {
    const { authority, network, store } = open();
    for (const name of ["one", "two"]) {
      network.isDown = false;
      const page = new Page(name, network, store);
      store.alive = new Set(["one", "two"]);
      await settle();
      network.isDown = true;
      page.type(`${name} `);
      await settle(100);
      page.session.close();
    }
    store.alive = new Set();
    network.isDown = false;
    const next = new Page("three", network, store);
    await settle(2_000);
    expect(next.text.split(" ").toSorted()).toEqual(["", "one", "two"]);
    expect(authority.doc.textContent).toBe(next.text);
    expect(store.records.size).toBe(0);
  });

  it("sends late text of the page until all of it is late, and ends", async () => {
    const { authority, network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    authority.closed = "late";
    network.delay = 100;
    page.type("late");
    await settle(10);
    page.type(" later");
    await settle(2_000);
    expect(page.saveState).toEqual({ kind: "ended", reason: "late" });
    expect(store.records.size).toBe(0);
  });

  it("keeps text in the store while the document is closed, and sends it as late with the next generation", async () => {
    const { authority, network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    authority.closed = "closed";
    page.type("kept");
    await settle(1_000);
    expect(page.saveState).toEqual({ kind: "ended", reason: "closed" });
    expect(store.records.size).toBe(1);
    page.session.close();
    store.alive.clear();
    authority.closed = "late";
    const next = new Page("two", new Network(new MemoryAuthority(newDoc("new"))), store, 2, network);
    await settle(1_000);
    expect(next.lateCount).toBe(1);
    expect(next.text).toBe("new");
    expect(store.records.size).toBe(0);
  });

  it("offers text that the service rejects to its writer", async () => {
    const { authority, network, store } = open("one");
    const page = new Page("one", network, store);
    await settle();
    authority.closed = "invalid";
    page.type("bad");
    await settle(1_000);
    expect(page.remainders).toEqual(["bad"]);
    expect(page.text).toBe("one");
    authority.closed = undefined;
    page.type("!");
    await settle(1_000);
    expect(authority.doc.textContent).toBe("one!");
  });

  it("fetches commits that were not announced", async () => {
    const { authority, network, store } = open("one");
    const page = new Page("one", network, store);
    await settle();
    network.isDown = true;
    const { tr } = EditorState.create({ doc: authority.doc });
    authority.appendNow({ ref: "a", version: 0, steps: tr.insertText("x", 1).steps });
    network.isDown = false;
    authority.appendNow({ ref: "b", version: 1, steps: tr.insertText("y", 2).steps.slice(1) });
    await settle(10);
    expect(page.text).toBe("xyone");
  });

  it("sends everything before a freeze ends", async () => {
    const { authority, network, store } = open();
    const page = new Page("one", network, store);
    await settle();
    page.type("last words");
    const flushed = page.session.flush();
    await settle(500);
    expect(await flushed).toBe(true);
    expect(authority.doc.textContent).toBe("last words");
  });

  it("ends where the log cannot be applied", async () => {
    const { authority, network, store } = open("one");
    const page = new Page("one", network, store);
    await settle();
    const { tr } = EditorState.create({ doc: newDoc("a much longer document") });
    page.session.announce([{ version: 1, ref: "x", userId: null, steps: tr.insertText("!", 20).steps }]);
    await settle();
    expect(page.saveState).toEqual({ kind: "ended", reason: "diverged" });
    expect(authority.version).toBe(0);
  });
});

it("CommitRejected carries its reason", () => {
  expect(new CommitRejected("late").reason).toBe("late");
});
