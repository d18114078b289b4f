// An authority in memory: the log of one document with the rebase of the service. For tests, and for the page that shows the
// editor without a service.
import type { Node, Schema } from "prosemirror-model";
import { Mapping, Step, Transform } from "prosemirror-transform";

import { type Authority, type Commit, CommitRejected, type OutgoingCommit, type RejectionReason } from "./commits";

export class MemoryAuthority implements Authority {
  #first: Node;
  #doc: Node;
  #commits: Commit[] = [];
  #listeners = new Set<(commits: readonly Commit[] | null) => void>();
  closed: RejectionReason | undefined;

  constructor(
    doc: Node,
    /** How steps are rebased; replaced by tests to show that clients follow the service. */
    private readonly rebaseSteps = rebaseOver,
  ) {
    this.#first = doc;
    this.#doc = doc;
  }

  get version(): number {
    return this.#commits.length;
  }

  get log(): readonly Commit[] {
    return this.#commits;
  }

  get doc(): Node {
    return this.#doc;
  }

  commitsSince(version: number) {
    return Promise.resolve(this.#commits.slice(version));
  }

  append(commit: OutgoingCommit): Promise<readonly Commit[]> {
    try {
      return Promise.resolve(this.appendNow(commit));
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error("append failed"));
    }
  }

  /** `append` without a promise. */
  appendNow({ ref, version, steps }: OutgoingCommit, userId: string | null = null): readonly Commit[] {
    if (!this.#commits.some((known) => known.ref === ref)) {
      if (this.closed !== undefined) throw new CommitRejected(this.closed);
      const over = this.#commits.slice(version).flatMap((commit) => commit.steps);
      // Steps travel as JSON, so shared objects cannot hide a difference.
      const received = steps.map((step) => copyStep(this.#doc.type.schema, step));
      const { doc, steps: rebased } = this.rebaseSteps(this.#doc, received, over);
      this.#doc = doc;
      const commit = { ref, userId, version: this.version + 1, steps: rebased };
      this.#commits.push(commit);
      for (const listener of this.#listeners) listener([commit]);
    }
    return this.#commits.slice(version);
  }

  subscribe(listener: (commits: readonly Commit[] | null) => void) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The document at a version, replayed from the beginning. */
  docAt(version: number): Node {
    const transform = new Transform(this.#first);
    for (const { steps } of this.#commits.slice(0, version)) for (const step of steps) transform.step(step);
    return transform.doc;
  }
}

export const copyStep = (schema: Schema, step: Step): Step =>
  Step.fromJSON(schema, JSON.parse(JSON.stringify(step.toJSON())) as object);

/** Maps steps over the steps that were committed since their version, and drops those that no longer apply. */
export function rebaseOver(doc: Node, steps: readonly Step[], over: readonly Step[]): { doc: Node; steps: Step[] } {
  const transform = new Transform(doc);
  const mapping = new Mapping();
  for (const step of steps.toReversed()) mapping.appendMap(step.getMap().invert());
  for (const step of over) mapping.appendMap(step.getMap());
  steps.forEach((step, index) => {
    const mapped = step.map(mapping.slice(steps.length - index));
    if (mapped !== null && transform.maybeStep(mapped).failed === null)
      mapping.appendMap(mapped.getMap(), steps.length - 1 - index);
  });
  return { doc: transform.doc, steps: transform.steps };
}
