// The changes of a document over time, loaded page by page. A frame is the document at one moment; frames are numbered over
// all generations.
import type { Node } from "prosemirror-model";
import { type Mappable, Step } from "prosemirror-transform";

import type { Schemas } from "../../api/client";
import { schema } from "../editor/document/schema";

export type PlaybackPage = Schemas["Playback"];
export type LoadPage = (range: { generation?: number; since: number }) => Promise<PlaybackPage>;

/** The document at one moment. */
export interface Frame {
  doc: Node;
  at: string;
  /** Author of the change; null for the beginning of a generation, and if it is unknown. */
  userId: string | null;
  isBeginning: boolean;
  /** What the change inserted. */
  inserted: readonly { from: number; to: number }[];
}

interface LoadedFrame {
  at: string;
  userId: string | null;
  steps: readonly Step[];
  /** The document of the first frame of a generation. */
  doc?: Node;
}

interface Generation {
  generation: number;
  version: number;
  beganAt: string;
}

/** Documents are kept every so many frames, so that a jump applies few steps. */
const KEPT_EVERY = 50;

export class PlaybackLog {
  readonly #load: LoadPage;
  #generations: readonly Generation[] = [];
  #frames: LoadedFrame[] = [];
  readonly #docs = new Map<number, Node>();
  #names: ReadonlyMap<string, string> = new Map();
  #loading: Promise<void> = Promise.resolve();

  constructor(load: LoadPage) {
    this.#load = load;
  }

  /** Number of frames, loaded or not. */
  get length(): number {
    return this.#generations.reduce((sum, { version }) => sum + version + 1, 0);
  }

  get loaded(): number {
    return this.#frames.length;
  }

  nameOf(userId: string): string | undefined {
    return this.#names.get(userId);
  }

  authors(): readonly string[] {
    return [...this.#names.keys()];
  }

  /** Loads pages until a frame is available, one after the other. */
  loadUntil(index: number): Promise<void> {
    const load = async () => {
      while (this.#frames.length === 0 || this.#frames.length <= Math.min(index, this.length - 1)) {
        const next = this.#next();
        if (next === undefined) return;
        this.#add(await this.#load(next), next);
        if (this.#generations.length === 0) return;
      }
    };
    const loading = this.#loading.then(load, load);
    this.#loading = loading.catch(() => undefined);
    return loading;
  }

  /** The frame with this number, which is loaded. */
  frame(index: number): Frame {
    const frame = this.#frames[index];
    if (frame === undefined) throw new RangeError(`frame ${index} is not loaded`);
    const doc = this.#docAt(index);
    const { at, userId, steps } = frame;
    return { doc, at, userId, isBeginning: frame.doc !== undefined, inserted: insertedBy(steps) };
  }

  /** What has to be loaded next. */
  #next(): { generation?: number; since: number } | undefined {
    if (this.#generations.length === 0) return this.#frames.length === 0 ? { since: 0 } : undefined;
    let before = 0;
    for (const { generation, version } of this.#generations) {
      const after = before + version + 1;
      if (this.#frames.length < after) return { generation, since: Math.max(0, this.#frames.length - before - 1) };
      before = after;
    }
    return undefined;
  }

  #add(page: PlaybackPage, { since }: { since: number }): void {
    // The list is fixed by the first page: commits that arrive meanwhile are not played.
    if (this.#generations.length === 0) this.#generations = page.generations;
    this.#names = new Map(page.authors.map((author) => [author.id, author.name]));
    const generation = this.#generations.find((one) => one.generation === page.generation);
    if (generation === undefined) return;
    if (since === 0 && page.doc !== null) {
      const doc = schema.nodeFromJSON(page.doc);
      this.#docs.set(this.#frames.length, doc);
      this.#frames.push({ at: generation.beganAt, userId: null, steps: [], doc });
    }
    for (const commit of page.commits) {
      if (commit.version > generation.version) continue;
      const steps = commit.steps.map((step) => Step.fromJSON(schema, step));
      this.#frames.push({ at: commit.at, userId: commit.userId, steps });
    }
    const isEmpty = page.doc === null && page.commits.length === 0;
    if (isEmpty) throw new Error("the service returned no more commits");
  }

  #docAt(index: number): Node {
    let start = index;
    while (!this.#docs.has(start)) start -= 1;
    let doc = this.#docs.get(start)!;
    for (let at = start + 1; at <= index; at += 1) {
      for (const step of this.#frames[at]!.steps) {
        const { doc: after, failed } = step.apply(doc);
        if (after == null) throw new Error(failed ?? "a step does not apply");
        doc = after;
      }
      if (at % KEPT_EVERY === 0) this.#docs.set(at, doc);
    }
    return doc;
  }
}

/** The ranges that steps inserted, in the document after the last of them. */
export function insertedBy(steps: readonly Step[]): readonly { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  steps.forEach((step, index) => {
    const later = steps.slice(index + 1).map((each) => each.getMap());
    const move = (position: number, side: number) =>
      later.reduce((at: number, map: Mappable) => map.map(at, side), position);
    step.getMap().forEach((_from, _to, from, to) => {
      const range = { from: move(from, 1), to: move(to, -1) };
      if (range.to > range.from) ranges.push(range);
    });
  });
  return ranges;
}

/**
 * The time until the next frame in milliseconds. Pauses are shortened: a lesson of writing does not take a lesson to watch.
 */
export function delayUntil(at: string, next: string, speed: number): number {
  const real = Math.max(0, Date.parse(next) - Date.parse(at));
  return Math.min(Math.max(real, 40), 1_500) / speed;
}
