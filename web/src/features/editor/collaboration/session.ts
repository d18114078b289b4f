// Sends the steps of one page and receives those of others: one commit at a time, again after failures, and never before the
// local store has them.
import type { EditorState } from "prosemirror-state";
import { Step } from "prosemirror-transform";

import { schema } from "../document/schema";
import { type Authority, type Commit, CommitRejected, type OutgoingCommit, type RejectionReason } from "./commits";
import { insertedText } from "./insertedText";
import type { LocalStore, RecordChange, StoredRecord, UnsentRecord } from "./localStore";
import { collaborationOf, discardUnconfirmed, markSent, mapSteps, receiveCommits, replaySteps } from "./unconfirmed";

/** What the status line shows. */
export type SaveState =
  | { kind: "saved" | "saving" }
  /** `count` changes are kept in this browser. `isOffline`: the service cannot be reached. */
  | { kind: "unsent"; count: number; isOffline: boolean }
  /** The document can no longer be edited by this page. */
  | { kind: "ended"; reason: EndReason };

/** `diverged`: the log does not fit the document of this page, which has to be loaded again. */
export type EndReason = Exclude<RejectionReason, "invalid"> | "diverged";

/** The editor of the page. */
export interface SessionHost {
  state: () => EditorState;
  update: (state: EditorState) => void;
  onSaveState: (state: SaveState) => void;
  /** Own text that could not be added to the document. */
  onRemainder: (text: string) => void;
  /** Own text of an earlier page was kept as a late version. */
  onLate: () => void;
  /** Commits that were applied, for the cursors of their authors. */
  onCommits?: (commits: readonly Commit[]) => void;
}

/** The log of a generation, to which commits of a page are added. */
export type AuthorityOf = (generation: number, clientId: string) => Authority;

export interface SessionIdentity {
  clientId: string;
  userId: string;
  documentId: string;
  generation: number;
  /** Whether the service accepts changes. Otherwise nothing is received, and only text of earlier generations is sent. */
  isOpen: boolean;
}

/** Limits of one commit (docs/built-in-editor.md). */
const MAX_STEPS = 500;
const MAX_BYTES = 256 * 1_024;
/** Pause between two commits: the rate limit of the service allows a class of writers no less. */
const SEND_INTERVAL_MS = 250;
/** How long a commit may be in flight before the status line mentions it. */
const PATIENCE_MS = 3_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000];
const POLL_MS = 15_000;
const POLL_DISCONNECTED_MS = 2_000;

export class EditingSession {
  #inFlight: OutgoingCommit | undefined;
  #isSending = false;
  #failures = 0;
  #isOffline = false;
  #isOverdue = false;
  #ended: EndReason | undefined;
  #refs = 0;
  #lastSent = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #poll: ReturnType<typeof setTimeout> | undefined;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;
  #mustWrite = false;
  #stored: readonly Step[] = [];
  #storedCommit: OutgoingCommit | undefined;
  #hasRecord = false;
  #replaces: string[] = [];
  #queue: Promise<void> = Promise.resolve();
  #adopting: Promise<void> = Promise.resolve();
  #reportFailedAdoption: () => void = () => undefined;
  readonly #adoptionFailed = new Promise<void>((resolve) => (this.#reportFailedAdoption = resolve));
  readonly #closing = new AbortController();
  #unsubscribe: () => void = () => undefined;
  #isClosed = false;
  #isConnected = true;

  readonly #identity: SessionIdentity;
  readonly #authorityOf: AuthorityOf;
  readonly #authority: Authority;
  readonly #store: LocalStore;
  readonly #host: SessionHost;

  constructor(identity: SessionIdentity, authorityOf: AuthorityOf, store: LocalStore, host: SessionHost) {
    this.#identity = identity;
    this.#authorityOf = authorityOf;
    this.#authority = authorityOf(identity.generation, identity.clientId);
    this.#store = store;
    this.#host = host;
  }

  /** Takes over what earlier pages have not sent, then begins to send and receive. */
  async start(): Promise<void> {
    if (this.#identity.isOpen) {
      this.#unsubscribe = this.#authority.subscribe((commits) => this.announce(commits));
      this.#schedulePoll();
    }
    const { clientId: key, userId, documentId } = this.#identity;
    const adopt = (stored: StoredRecord) => {
      this.#adopting = this.#adopting.then(() => this.#adopt(stored)).catch(() => undefined);
      return this.#adopting;
    };
    const adopted = this.#store.adoptRecords({ key, userId, documentId }, adopt, this.#closing.signal);
    // Without a connection the text of earlier pages waits, but the editor does not.
    await Promise.race([adopted.catch(() => undefined), this.#adoptionFailed]);
    if (!this.#identity.isOpen) return;
    this.announce(null);
    this.changed();
  }

  /** Ends the session. What is unsent stays in the local store. */
  close(): void {
    this.#isClosed = true;
    this.#closing.abort();
    this.#unsubscribe();
    for (const timer of [this.#timer, this.#poll, this.#patience]) clearTimeout(timer);
  }

  get hasUnsent(): boolean {
    return collaborationOf(this.#host.state()).unconfirmed.length > 0;
  }

  /** Whether new commits are announced; without announcements the session polls more often. */
  setConnected(isConnected: boolean): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    if (this.#poll !== undefined) this.#schedulePoll();
  }

  /** Called after every change of the document by the user. */
  changed(): void {
    void this.#persist();
    this.#report();
    this.#scheduleSend(Math.max(0, this.#lastSent + SEND_INTERVAL_MS - Date.now()));
  }

  /** The connection is back, or the document is about to be frozen: sends at once. Resolves when the attempt is over. */
  async flush(): Promise<boolean> {
    this.#failures = 0;
    while (!this.#isClosed && this.hasUnsent && this.#ended === undefined && this.#failures === 0) {
      if (this.#isSending) await new Promise((resolve) => setTimeout(resolve, 20));
      else await this.#send();
    }
    return !this.hasUnsent;
  }

  /** New commits exist; null or a gap means that they have to be fetched. Calls are handled one after the other. */
  announce(commits: readonly Commit[] | null): void {
    this.#queue = this.#queue
      .then(() => this.#catchUp(commits))
      .catch((error: unknown) => {
        if (!(error instanceof CommitRejected)) this.#setOffline(true);
        else if (error.reason !== "invalid") this.#end(error.reason);
      });
  }

  async #catchUp(commits: readonly Commit[] | null): Promise<void> {
    if (this.#isClosed || this.#ended !== undefined) return;
    const { version } = collaborationOf(this.#host.state());
    const next = commits?.find((commit) => commit.version > version)?.version;
    if (commits !== null && next === undefined) return;
    const isComplete = commits !== null && next === version + 1;
    let complete = commits;
    if (!isComplete) {
      complete = await this.#authority.commitsSince(version);
      this.#setOffline(false);
    }
    try {
      this.#receive(complete ?? []);
    } catch {
      this.#end("diverged");
    }
  }

  #receive(commits: readonly Commit[]): void {
    if (this.#isClosed) return;
    const before = this.#host.state();
    const { version } = collaborationOf(before);
    const fresh = commits.filter((commit) => commit.version > version);
    if (fresh.length === 0) return;
    const { state, lost } = receiveCommits(before, fresh, this.#inFlight?.ref);
    if (fresh.some(({ ref }) => ref === this.#inFlight?.ref)) this.#inFlight = undefined;
    this.#host.update(state);
    this.#host.onCommits?.(fresh);
    for (const text of lost) this.#host.onRemainder(text);
    void this.#persist();
    this.#report();
  }

  #scheduleSend(delay: number): void {
    if (this.#isSending || this.#ended !== undefined || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(), delay);
  }

  async #send(): Promise<void> {
    if (this.#isSending || this.#isClosed || this.#ended !== undefined || !(this.hasUnsent || this.#inFlight)) return;
    this.#isSending = true;
    clearTimeout(this.#timer);
    this.#patience ??= setTimeout(() => {
      this.#isOverdue = true;
      this.#report();
    }, PATIENCE_MS);
    let delay: number | undefined;
    try {
      this.#inFlight ??= this.#nextCommit();
      // A page that is reloaded now sends the same commit again, so the store must know its reference first.
      await this.#persist();
      const commits = await this.#authority.append(this.#inFlight);
      this.#lastSent = Date.now();
      this.#failures = 0;
      clearTimeout(this.#patience);
      this.#patience = undefined;
      this.#isOverdue = false;
      this.#isOffline = false;
      this.announce(commits);
      await this.#queue;
      delay = SEND_INTERVAL_MS;
    } catch (error) {
      if (error instanceof CommitRejected) {
        this.#reject(error.reason);
        delay = SEND_INTERVAL_MS;
      } else {
        delay = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)]!;
        this.#failures += 1;
        this.#setOffline(true);
      }
    } finally {
      this.#isSending = false;
    }
    this.#report();
    if (delay !== undefined && (this.hasUnsent || this.#inFlight !== undefined)) this.#scheduleSend(delay);
  }

  #nextCommit(): OutgoingCommit {
    const { unconfirmed } = collaborationOf(this.#host.state());
    let bytes = 0;
    let count = 0;
    for (const { step } of unconfirmed) {
      bytes += JSON.stringify(step.toJSON()).length;
      if (count > 0 && (count >= MAX_STEPS || bytes > MAX_BYTES)) break;
      count += 1;
    }
    const { state, steps } = markSent(this.#host.state(), count);
    this.#host.update(state);
    return this.#commitOf(steps);
  }

  #commitOf(steps: readonly Step[]): OutgoingCommit {
    this.#refs += 1;
    const { version } = collaborationOf(this.#host.state());
    return { ref: `${this.#identity.clientId}-${this.#refs}`, version, steps };
  }

  #reject(reason: RejectionReason): void {
    // The text stays in the local store: it becomes a late version when the generation has ended.
    if (reason === "closed") {
      this.#end(reason);
      return;
    }
    const rest = collaborationOf(this.#host.state()).unconfirmed.filter(({ isSent }) => !isSent);
    if (reason === "late" && rest.length > 0) {
      // What was typed after the late commit is late, too.
      this.#inFlight = undefined;
      const { state, steps } = markSent(this.#host.state());
      this.#host.update(state);
      this.#inFlight = this.#commitOf(steps.slice(-rest.length));
      return;
    }
    if (reason === "late") {
      this.#inFlight = undefined;
      this.#hasRecord = false;
      this.#store.dropPending(this.#identity.clientId);
      void this.#store.remove(this.#identity.clientId).catch(() => undefined);
      return this.#end(reason);
    }
    const { state, text } = discardUnconfirmed(this.#host.state());
    this.#inFlight = undefined;
    this.#host.update(state);
    this.#host.onRemainder(text);
    void this.#persist();
    if (reason === "expired") this.#end(reason);
  }

  #end(reason: EndReason): void {
    this.#ended = reason;
    clearTimeout(this.#poll);
    this.#report();
  }

  #setOffline(isOffline: boolean): void {
    if (this.#isOffline === isOffline) return;
    this.#isOffline = isOffline;
    this.#report();
    if (!isOffline && this.hasUnsent) this.#scheduleSend(0);
  }

  #report(): void {
    if (this.#isClosed) return;
    this.#host.onSaveState(this.#saveState());
  }

  #saveState(): SaveState {
    if (this.#ended !== undefined) return { kind: "ended", reason: this.#ended };
    const { unconfirmed } = collaborationOf(this.#host.state());
    if (this.#isOffline || this.#isOverdue)
      return { kind: "unsent", count: countChanges(unconfirmed.map(({ step }) => step)), isOffline: this.#isOffline };
    return { kind: unconfirmed.length === 0 && this.#inFlight === undefined ? "saved" : "saving" };
  }

  #schedulePoll(): void {
    clearTimeout(this.#poll);
    this.#poll = setTimeout(
      () => {
        if (this.#isClosed || this.#ended !== undefined) return;
        this.announce(null);
        void this.#queue.finally(() => this.#schedulePoll());
      },
      this.#isConnected ? POLL_MS : POLL_DISCONNECTED_MS,
    );
  }

  /** Writes the unconfirmed steps to the local store. Calls during a write are combined into the next one. */
  #persist(): Promise<void> {
    this.#mustWrite = true;
    const change = this.#unstoredChange();
    if (change === undefined) this.#store.dropPending(this.#identity.clientId);
    else this.#store.keepPending(change);
    this.#writing ??= (async () => {
      while (this.#mustWrite) {
        this.#mustWrite = false;
        const isWritten = await this.#write().then(
          () => true,
          () => false,
        );
        // What has changed meanwhile is pending itself.
        if (isWritten && !this.#mustWrite) this.#store.dropPending(this.#identity.clientId);
      }
    })().finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  /** What the local store lacks; undefined if nothing is unconfirmed. */
  #unstoredChange(): RecordChange | undefined {
    const { clientId: key, userId, documentId, generation } = this.#identity;
    const { version, unconfirmed } = collaborationOf(this.#host.state());
    const inFlight = this.#inFlight;
    const replaces = this.#replaces;
    if (unconfirmed.length === 0 && inFlight === undefined && replaces.length === 0) return undefined;
    let keep = 0;
    while (keep < unconfirmed.length && this.#hasRecord && unconfirmed[keep]!.step === this.#stored[keep]) keep += 1;
    const sent = inFlight && {
      ref: inFlight.ref,
      version: inFlight.version,
      count: unconfirmed.filter(({ isSent }) => isSent).length,
    };
    return {
      record: { key, userId, documentId, generation, version, sent },
      keep,
      added: unconfirmed.slice(keep).map(({ step }) => toJson(step)),
      sentSteps: inFlight === undefined || inFlight === this.#storedCommit ? undefined : inFlight.steps.map(toJson),
      replaces,
    };
  }

  async #write(): Promise<void> {
    const change = this.#unstoredChange();
    if (change === undefined) {
      this.#stored = [];
      if (!this.#hasRecord) return;
      this.#hasRecord = false;
      await this.#store.remove(this.#identity.clientId);
      return;
    }
    const steps = collaborationOf(this.#host.state()).unconfirmed.map(({ step }) => step);
    const inFlight = this.#inFlight;
    await this.#store.save(change);
    this.#hasRecord = true;
    this.#stored = steps;
    this.#storedCommit = inFlight;
    this.#replaces = this.#replaces.filter((each) => !change.replaces.includes(each));
    // A record without steps, which was written to delete others, is deleted next.
    this.#mustWrite ||= steps.length === 0 && inFlight === undefined;
  }

  /** Takes over the record of an earlier page of this user and document, as soon as the service can be reached. */
  async #adopt({ record, ...stored }: StoredRecord): Promise<void> {
    const [steps, sentSteps] = [parseSteps(stored.steps), parseSteps(stored.sentSteps)];
    const earlier: EarlierPage = { record, steps, sentSteps };
    let hasEnded = record.generation !== this.#identity.generation;
    for (let failures = 0; !this.#isClosed; failures += 1) {
      try {
        if (hasEnded) await this.#sendLate(earlier);
        else if (this.#identity.isOpen) await this.#replay(earlier);
        return;
      } catch (error) {
        if (error instanceof CommitRejected) {
          // The next page tries again.
          if (error.reason === "closed") return;
          if (error.reason !== "late" || hasEnded) return this.#giveUp(record.key, steps);
          // The generation has ended meanwhile: the text that follows the rejected commit is late, too.
          hasEnded = true;
          continue;
        }
        // Steps that do not fit the document will not fit later. Those in flight were accepted before that is known.
        if (error instanceof RangeError || (error instanceof Error && error.name === "TransformError"))
          return this.#giveUp(record.key, steps.slice(record.sent?.count ?? 0));
        this.#reportFailedAdoption();
        const delay = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]!;
        await new Promise((resolve) => setTimeout(resolve, delay));
      }
    }
  }

  /** A record that can never be sent becomes text. */
  async #giveUp(key: string, steps: readonly Step[]): Promise<void> {
    this.#offer(insertedText(steps));
    await this.#store.remove(key).catch(() => undefined);
  }

  #offer(text: string): void {
    if (text.trim() !== "") this.#host.onRemainder(text);
  }

  async #replay(earlier: EarlierPage): Promise<void> {
    // The request of the earlier page may be on its way: only the same reference cannot append its steps twice.
    const { record, sentSteps } = earlier;
    const { sent, version } = record;
    if (sent !== undefined) await this.#authority.append({ ref: sent.ref, version: sent.version, steps: sentSteps });
    // In the queue, so that nothing is received between the response and its use.
    const merged = this.#queue.then(async () => {
      const since = await this.#authority.commitsSince(version);
      if (this.#ended !== undefined) throw new CommitRejected(this.#ended === "late" ? "late" : "closed");
      if (!this.#isClosed) this.#merge(earlier, since);
    });
    this.#queue = merged.catch(() => undefined);
    await merged;
    if (this.#isClosed) return;
    this.changed();
    // Until then no other page may take over the record.
    await this.#writing;
  }

  /** Puts the steps of an earlier page on top of the document. `since`: the log from the version of its record on. */
  #merge({ record, steps }: EarlierPage, since: readonly Commit[]): void {
    this.#receive(since);
    const { confirmed, unconfirmed } = collaborationOf(this.#host.state());
    const replayed = replaySteps(confirmed, { version: record.version, sent: record.sent, steps }, since);
    // Records of several pages are put on top of each other.
    const own: Commit = { version: 0, ref: "", userId: null, steps: unconfirmed.map(({ step }) => step) };
    const { tr, doc } = this.#host.state();
    const { transform, lost } = replaySteps(doc, { version: 0, sent: undefined, steps: replayed.steps }, [own]);
    for (const step of transform.steps) tr.step(step);
    this.#replaces = [...this.#replaces, record.key];
    this.#host.update(this.#host.state().apply(tr));
    for (const text of [replayed.lost, lost]) this.#offer(text);
  }

  /** Sends what belongs to a generation that has ended: the service keeps it as a late version. */
  async #sendLate({ record, steps, sentSteps }: EarlierPage): Promise<void> {
    const { key, version, sent } = record;
    const authority = this.#authorityOf(record.generation, key);
    const isSentLate =
      sent !== undefined &&
      (await isLate(authority.append({ ref: sent.ref, version: sent.version, steps: sentSteps })));
    const since = isSentLate ? [] : await authority.commitsSince(version);
    const { steps: rest, lost } = isSentLate
      ? { steps: steps.slice(sent.count), lost: "" }
      : mapSteps({ version, sent, steps }, since, () => true);
    const late = { ref: `${key}-late`, version: since.at(-1)?.version ?? version, steps: rest };
    const isRestLate = insertedText(rest).trim() !== "" && (await isLate(authority.append(late)));
    if (isSentLate || isRestLate) this.#host.onLate();
    this.#offer(lost);
    // A record that is left is sent again by the next page, with the same references.
    await this.#store.remove(key).catch(() => undefined);
  }
}

/** What an earlier page has left, parsed. */
interface EarlierPage {
  record: UnsentRecord;
  steps: readonly Step[];
  sentSteps: readonly Step[];
}

/** Whether the service has kept a commit as late. */
async function isLate(appended: Promise<unknown>): Promise<boolean> {
  try {
    await appended;
    return false;
  } catch (error) {
    if (error instanceof CommitRejected && error.reason === "late") return true;
    throw error;
  }
}

const toJson = (step: Step) => step.toJSON() as object;
const parseSteps = (steps: readonly object[]) => steps.map((step) => Step.fromJSON(schema, step));

/** Number of changes as a user sees them: a run of typing is one. */
function countChanges(steps: readonly Step[]): number {
  let count = 0;
  let last: Step | null = null;
  for (const step of steps) {
    const merged: Step | null = last === null ? null : last.merge(step);
    if (merged === null) count += 1;
    last = merged ?? step;
  }
  return count;
}
