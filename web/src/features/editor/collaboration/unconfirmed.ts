// The state of collaboration inside the editor: the version confirmed by the service, and own steps that are not confirmed
// yet. The document that is shown is the confirmed one with the unconfirmed steps on top of it.
import type { Node } from "prosemirror-model";
import { type EditorState, Plugin, PluginKey, Selection, TextSelection, type Transaction } from "prosemirror-state";
import { Mapping, type Step, Transform } from "prosemirror-transform";

import type { Commit } from "./commits";
import { insertedText } from "./insertedText";

export interface UnconfirmedStep {
  step: Step;
  inverted: Step;
  /** Document before the step. */
  before: Node;
  /** Whether the step belongs to the commit in flight. */
  isSent: boolean;
}

export interface CollaborationState {
  version: number;
  confirmed: Node;
  unconfirmed: readonly UnconfirmedStep[];
}

const key = new PluginKey<CollaborationState>("collaboration");

export const collaborationOf = (state: EditorState): CollaborationState => key.getState(state)!;

/** Keeps the confirmed version and the unconfirmed steps of an editor. */
export function collaboration(version: number): Plugin<CollaborationState> {
  return new Plugin<CollaborationState>({
    key,
    state: {
      init: (_, { doc }) => ({ version, confirmed: doc, unconfirmed: [] }),
      apply: (transaction, value) => {
        const next = transaction.getMeta(key) as CollaborationState | undefined;
        if (next !== undefined) return next;
        if (!transaction.docChanged) return value;
        return { ...value, unconfirmed: [...value.unconfirmed, ...stepsOf(transaction)] };
      },
    },
    // Undo counts unconfirmed steps, so the history must not merge them.
    historyPreserveItems: true,
  } as ConstructorParameters<typeof Plugin<CollaborationState>>[0]);
}

function stepsOf({ steps, docs }: Transform): UnconfirmedStep[] {
  return steps.map((step, index) => {
    const before = docs[index]!;
    return { step, inverted: step.invert(before), before, isSent: false };
  });
}

/** Marks the first unconfirmed steps as sent, at most `limit`, and returns them. */
export function markSent(state: EditorState, limit = Infinity): { state: EditorState; steps: readonly Step[] } {
  const own = collaborationOf(state);
  const unconfirmed = own.unconfirmed.map((each, index) => ({ ...each, isSent: index < limit }));
  return { state: update(state, { ...own, unconfirmed }), steps: unconfirmed.slice(0, limit).map(({ step }) => step) };
}

/** Takes back all unconfirmed steps and returns their text. */
export function discardUnconfirmed(state: EditorState): { state: EditorState; text: string } {
  const { version, confirmed, unconfirmed } = collaborationOf(state);
  const { tr } = state;
  for (const { inverted } of unconfirmed.toReversed()) tr.step(inverted);
  tr.setMeta("rebased", unconfirmed.length).setMeta("addToHistory", false);
  tr.setMeta(key, { version, confirmed, unconfirmed: [] } satisfies CollaborationState);
  return { state: state.apply(tr), text: insertedText(unconfirmed.map(({ step }) => step)) };
}

function update(state: EditorState, next: CollaborationState): EditorState {
  return state.apply(state.tr.setMeta(key, next).setMeta("addToHistory", false));
}

/** Result of receiving commits: own text whose place is gone is returned, so that it can be offered to its writer. */
export interface Received {
  state: EditorState;
  lost: string[];
}

/**
 * Applies commits of the log in their order. `ref` is the reference of the own commit in flight: its steps are confirmed as the
 * log has them, even if the service has rebased them in another way than this client.
 */
export function receiveCommits(before: EditorState, commits: readonly Commit[], ref: string | undefined): Received {
  let state = before;
  const lost: string[] = [];
  let foreign: Step[] = [];
  const flush = (version: number) => {
    if (foreign.length === 0) {
      const own = collaborationOf(state);
      if (own.version !== version) state = update(state, { ...own, version });
      return;
    }
    const result = rebase(state, foreign, version, 0);
    foreign = [];
    state = result.state;
    lost.push(...result.lost);
  };
  let { version } = collaborationOf(state);
  for (const commit of commits) {
    if (commit.version <= version) continue;
    if (commit.version !== version + 1) throw new RangeError(`commit ${version + 1} is missing`);
    if (commit.ref === ref) {
      flush(version);
      const result = confirmOwn(state, commit);
      state = result.state;
      lost.push(...result.lost);
    } else foreign.push(...commit.steps);
    ({ version } = commit);
  }
  flush(version);
  return { state, lost: lost.filter((text) => text.trim() !== "") };
}

function confirmOwn(state: EditorState, commit: Commit): Received {
  const own = collaborationOf(state);
  const rest = own.unconfirmed.filter(({ isSent }) => !isSent);
  const sent = own.unconfirmed.slice(0, own.unconfirmed.length - rest.length);
  const local = rest[0]?.before ?? state.doc;
  const authoritative = new Transform(own.confirmed);
  for (const step of commit.steps) authoritative.step(step);
  if (authoritative.doc.eq(local))
    return { state: update(state, { version: commit.version, confirmed: local, unconfirmed: rest }), lost: [] };
  const result = rebase(state, commit.steps, commit.version, sent.length);
  return { state: result.state, lost: [...missingText(sent, commit.steps), ...result.lost] };
}

/** Text of the sent steps that the committed steps do not insert. */
function missingText(sent: readonly UnconfirmedStep[], committed: readonly Step[]): string[] {
  const wanted = insertedText(sent.map(({ step }) => step));
  return wanted === insertedText(committed) ? [] : [wanted];
}

/** Mirrors connect a step that was taken back with its later copy. The method exists for collaboration but is not in the types. */
const setMirror = (mapping: Mapping, one: number, other: number) =>
  (mapping as Mapping & { setMirror: (one: number, other: number) => void }).setMirror(one, other);

/**
 * Takes back the unconfirmed steps, applies `steps`, and applies the unconfirmed steps again without the first `confirmed` ones,
 * which `steps` replaces. The order of the steps and the mirrors are those that the undo history expects.
 */
function rebase(before: EditorState, steps: readonly Step[], version: number, confirmed: number): Received {
  const { unconfirmed } = collaborationOf(before);
  const count = unconfirmed.length;
  const { tr } = before;
  for (const { inverted } of unconfirmed.toReversed()) tr.step(inverted);
  for (const step of steps) tr.step(step);
  const confirmedDoc = tr.doc;
  // The committed steps are the own ones, possibly moved: what was typed after them keeps its place.
  const isParallel = confirmed > 0 && steps.length === confirmed;
  for (const [index, step] of isParallel ? steps.entries() : []) {
    if (haveEqualSizes(unconfirmed[index]!.step, step)) setMirror(tr.mapping, count - 1 - index, count + index);
  }
  const kept: UnconfirmedStep[] = [];
  const dropped: Step[] = [];
  for (let index = confirmed; index < count; index += 1) {
    const { step, isSent } = unconfirmed[index]!;
    const mapped = step.map(tr.mapping.slice(count - index));
    const docBefore = tr.doc;
    if (mapped !== null && tr.maybeStep(mapped).failed === null) {
      setMirror(tr.mapping, count - 1 - index, tr.steps.length - 1);
      kept.push({ step: mapped, inverted: mapped.invert(docBefore), before: docBefore, isSent });
    } else dropped.push(step);
  }
  keepSelection(before, tr);
  tr.setMeta("rebased", count).setMeta("addToHistory", false);
  tr.setMeta(key, { version, confirmed: confirmedDoc, unconfirmed: kept } satisfies CollaborationState);
  const lost = insertedText(dropped);
  return { state: before.apply(tr), lost: lost === "" ? [] : [lost] };
}

const haveEqualSizes = (one: Step, other: Step): boolean => {
  const sizes = (step: Step) => {
    const found: number[] = [];
    step.getMap().forEach((from, to, newFrom, newTo) => found.push(to - from, newTo - newFrom));
    return found.join();
  };
  return sizes(one) === sizes(other);
};

/** A cursor stays in front of text that another author inserts at its position. */
function keepSelection({ selection }: EditorState, tr: Transaction): void {
  if (!(selection instanceof TextSelection)) return;
  const anchor = tr.doc.resolve(tr.mapping.map(selection.anchor, -1));
  const head = tr.doc.resolve(tr.mapping.map(selection.head, -1));
  tr.setSelection(head.parent.inlineContent ? TextSelection.between(anchor, head, -1) : Selection.near(head, -1));
  // `setSelection` marks the selection as set by the user; the scroll position must stay.
}

/** Unconfirmed steps of an earlier page that are applied to a newer document. */
export interface StoredSteps {
  version: number;
  /** Reference of the commit in flight and the number of steps that it has. */
  sent: { ref: string; count: number } | undefined;
  steps: readonly Step[];
}

/** Own steps rebased over the log. `accepted` tells whether the commit in flight is in the log already. */
export interface Replayed {
  transform: Transform;
  steps: readonly Step[];
  isAccepted: boolean;
  lost: string;
}

/**
 * Rebases stored steps from their version to the document, which already contains `commits`. Needs no document of the stored
 * version: positions are mapped by the steps alone.
 */
export function replaySteps(doc: Node, stored: StoredSteps, commits: readonly Commit[]): Replayed {
  const transform = new Transform(doc);
  const apply = (step: Step) => transform.maybeStep(step).failed === null;
  return { transform, ...mapSteps(stored, commits, apply) };
}

/** Maps stored steps over `commits`. `apply` returns whether a mapped step fits the document. */
export function mapSteps(stored: StoredSteps, commits: readonly Commit[], apply: (step: Step) => boolean) {
  const mapping = new Mapping();
  const kept: Step[] = [];
  const count = stored.steps.length;
  for (const step of stored.steps.toReversed()) mapping.appendMap(step.getMap().invert());
  const own = stored.sent === undefined ? undefined : commits.find(({ ref }) => ref === stored.sent?.ref);
  for (const commit of commits) {
    const isParallel = commit === own && commit.steps.length === stored.sent?.count;
    commit.steps.forEach((step, index) => {
      const mirror = isParallel && haveEqualSizes(step, stored.steps[index]!) ? count - 1 - index : undefined;
      mapping.appendMap(step.getMap(), mirror);
    });
  }
  const accepted = own === undefined ? 0 : (stored.sent?.count ?? 0);
  const dropped: Step[] = [];
  for (let index = accepted; index < count; index += 1) {
    const step = stored.steps[index]!;
    const mapped = step.map(mapping.slice(count - index));
    if (mapped !== null && apply(mapped)) {
      kept.push(mapped);
      mapping.appendMap(mapped.getMap(), count - 1 - index);
    } else dropped.push(step);
  }
  return { steps: kept, isAccepted: own !== undefined, lost: insertedText(dropped) };
}
