/**
 * Writes cases for `crates/rich-text/tests/oracle.rs`: what the official ProseMirror packages do with random documents and
 * edits. Usage: node oracle.mjs SEED STEPS. A line is one JSON object, see `Oracle` below.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Mapping, Step, Transform } from 'prosemirror-transform';
import { rebaseSteps } from 'prosemirror-collab';
import { document } from './documents.mjs';
import { anyPosition, anyRange, arbitraryStep, boundary, edit, setFocus } from './edits.mjs';
import { Random } from './random.mjs';
import { schema } from './schema.mjs';

const STEPS_OF_A_DOCUMENT = 400;
const [seed, wantedSteps] = process.argv.slice(2).map(Number);

export function fingerprint(doc) {
  return createHash('sha256').update(JSON.stringify(doc)).digest('hex').slice(0, 16);
}

/** The document after a step, null if the step does not apply or makes it invalid. */
function applied(doc, step) {
  try {
    const result = step.apply(doc);
    result.doc?.check();
    return result.doc;
  } catch {
    return null;
  }
}

class Oracle {
  #random;
  #doc = null;
  steps = 0;

  constructor(seed) {
    this.#random = new Random(seed);
  }

  /** Starts a document: `{"document": node}`. */
  start() {
    this.#doc = document(this.#random);
    this.#doc.check();
    return [{ document: this.#doc }];
  }

  /** The lines of one round of editing. */
  round() {
    const random = this.#random;
    const kind = random.fraction();
    if (kind < 0.65) return this.#commit();
    if (kind < 0.8) return this.#concurrent();
    if (kind < 0.9) return this.#undo();
    if (kind < 0.95) return this.#broken();
    return [...this.#arbitrary(), this.#slice()];
  }

  /** Some edits of one author, with the steps that apply. */
  #edits(doc, most) {
    const commit = new Transform(doc);
    const count = 1 + this.#random.below(most);
    for (let index = 0; index < count; index += 1) {
      for (const step of edit(this.#random, commit.doc)) {
        if (applied(commit.doc, step)) commit.step(step);
      }
    }
    return commit;
  }

  /** `{"commit": {steps, fingerprints}}` and `{"positions": [[position, bias, mapped, deletion]..]}` over these steps. */
  #commit(commit = this.#edits(this.#doc, 3)) {
    const documents = commit.steps.length ? [...commit.docs.slice(1), commit.doc] : [];
    const start = commit.before;
    this.#doc = commit.doc;
    this.steps += commit.steps.length;
    return [
      { commit: { steps: commit.steps, fingerprints: documents.map(fingerprint) } },
      { positions: this.#mapped(start, commit.mapping) },
    ];
  }

  #mapped(start, mapping) {
    return Array.from({ length: 4 }, () => {
      const position = this.#random.below(start.content.size + 1);
      const bias = this.#random.pick([-1, 1]);
      const { pos, deleted, deletedBefore, deletedAfter, deletedAcross } = mapping.mapResult(position, bias);
      return [position, bias, pos, [deleted, deletedBefore, deletedAfter, deletedAcross]];
    });
  }

  /** Two authors from the same document: `{"rebase": {steps, over, rebased, dropped, fingerprint}}`. */
  #concurrent() {
    if (this.#random.chance(0.7)) setFocus(this.#random.below(this.#doc.content.size + 1));
    const over = this.#edits(this.#doc, 4);
    const own = this.#edits(this.#doc, 4);
    setFocus(null);
    const local = own.steps.map((step, index) => ({ step, inverted: step.invert(own.docs[index]), origin: index }));
    const merged = new Transform(own.doc);
    let rebased;
    try {
      rebased = rebaseSteps(local, over.steps, merged);
      merged.doc.check();
    } catch {
      // A step of the rebase throws instead of failing, or passes and makes the document invalid.
      return [];
    }
    const kept = rebased.map(({ origin }) => origin);
    const dropped = local.map((_, index) => index).filter((index) => !kept.includes(index));
    this.#doc = merged.doc;
    this.steps += over.steps.length + own.steps.length + rebased.length;
    return [
      {
        rebase: {
          steps: own.steps,
          over: over.steps,
          rebased: rebased.map(({ step }) => step),
          dropped,
          fingerprint: fingerprint(merged.doc),
        },
      },
    ];
  }

  /** Undoes edits with the inverted steps of ProseMirror. */
  #undo() {
    const commit = this.#edits(this.#doc, 3);
    const lines = this.#commit(commit);
    const undo = new Transform(commit.doc);
    for (let index = commit.steps.length - 1; index >= 0; index -= 1) {
      const inverted = commit.steps[index].invert(commit.docs[index]);
      if (applied(undo.doc, inverted)) undo.step(inverted);
    }
    return [...lines, ...this.#commit(undo)];
  }

  /** A step at random positions: `{"applies": {step, fingerprint}}`, which does not change the document, or `{"fails": step}`. */
  #arbitrary() {
    const cases = [];
    for (let index = 0; index < 4; index += 1) cases.push(this.#outcome(arbitraryStep(this.#random, this.#doc).toJSON()));
    return cases;
  }

  #outcome(json) {
    this.steps += 1;
    let doc = null;
    try {
      doc = isRejected(json, this.#doc) ? null : applied(this.#doc, Step.fromJSON(schema, json));
    } catch {
      // Invalid JSON.
    }
    return doc ? { applies: { step: json, fingerprint: fingerprint(doc) } } : { fails: json };
  }

  /** Steps of an edit with one value changed. */
  #broken() {
    const steps = this.#edits(this.#doc, 2).steps.slice(0, 1);
    return steps.map((step) => {
      const json = JSON.parse(JSON.stringify(step));
      change(this.#random, json);
      return this.#outcome(json);
    });
  }

  /** `{"slice": [from, to, slice]}` */
  #slice() {
    const [from, to] = anyRange(this.#random, this.#doc);
    return { slice: [from, to, this.#doc.slice(from, to)] };
  }
}

/** Changes one value somewhere in the JSON of a step. */
function change(random, json) {
  const places = [];
  const visit = (value) => {
    for (const key of Object.keys(value)) {
      places.push([value, key]);
      if (value[key] && typeof value[key] === 'object') visit(value[key]);
    }
  };
  visit(json);
  const [owner, key] = random.pick(places);
  const others = ['paragraph', 'table_row', 'strong', 'subscript', 'text', '', 'javascript:x', 'center', -1, 0, 1, 2, 3, 7, 1.5, 1e9, null, true, [], {}];
  if (random.chance(0.2)) delete owner[key];
  else if (typeof owner[key] === 'number' && random.chance(0.7)) owner[key] += random.pick([-2, -1, 1, 2]);
  else owner[key] = random.pick(others);
}

/** What the server rejects although ProseMirror accepts it: see the documentation of the crate rich-text. */
function isRejected(json, doc) {
  if (!json || typeof json !== 'object') return true;
  const isPosition = (value) => Number.isInteger(value) && value >= 0 && value <= 0xffffffff;
  const isCut = (position) => position <= doc.content.size && boundary(doc, position) !== position;
  const positions = ['from', 'to', 'gapFrom', 'gapTo', 'pos'].map((name) => json[name]).filter((value) => value !== undefined);
  if (positions.some((value) => !isPosition(value) || isCut(value))) return true;
  if (json.from > json.to || json.gapFrom > json.gapTo || json.gapFrom < json.from || json.gapTo > json.to) return true;
  if (json.insert !== undefined && !isPosition(json.insert)) return true;
  if (json.structure !== undefined && json.structure !== null && typeof json.structure !== 'boolean') return true;
  if (json.stepType === 'docAttr' && !(json.attr in doc.type.attrs)) return true;
  if (json.stepType === 'attr' && !(json.attr in (doc.nodeAt(json.pos)?.type.attrs ?? {}))) return true;
  if ((json.stepType === 'attr' || json.stepType === 'docAttr') && json.value === undefined) return true;
  if (json.stepType === 'markSet') return !Array.isArray(json.steps) || json.steps.some((step) => isRejected(step, doc));
  if (json.mark && hasOddJson(json.mark)) return true;
  return json.slice !== undefined && json.slice !== null && isOddSlice(json.slice, json.insert);
}

function isOddSlice(json, insert = 0) {
  if (typeof json !== 'object' || Array.isArray(json)) return true;
  const open = [json.openStart ?? 0, json.openEnd ?? 0];
  if (open.some((depth) => !Number.isInteger(depth) || depth < 0)) return true;
  if (json.content !== undefined && json.content !== null && (!Array.isArray(json.content) || json.content.some(hasOddJson))) return true;
  try {
    const parsed = schema.nodes.doc.create(null, (json.content ?? []).map((node) => schema.nodeFromJSON(node))).content;
    const depthOf = (child) => (child && !child.isLeaf ? 1 : 0);
    let [first, last] = [parsed.firstChild, parsed.lastChild];
    let [start, end] = [0, 0];
    for (; depthOf(first); first = first.firstChild) start += 1;
    for (; depthOf(last); last = last.lastChild) end += 1;
    return open[0] > start || open[1] > end || insert > parsed.size - open[0] - open[1];
  } catch {
    return true;
  }
}

/** JSON that ProseMirror reads with a default instead of an error. */
function hasOddJson(node) {
  if (!node || typeof node !== 'object' || Array.isArray(node) || typeof node.type !== 'string') return true;
  if (node.attrs !== undefined && node.attrs !== null && (typeof node.attrs !== 'object' || Array.isArray(node.attrs))) return true;
  for (const list of [node.content, node.marks]) {
    if (list !== undefined && list !== null && (!Array.isArray(list) || list.some(hasOddJson))) return true;
  }
  const isLeaf = schema.nodes[node.type]?.isLeaf;
  return Boolean(isLeaf && node.content?.length);
}

async function write(line) {
  if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
}

const oracle = new Oracle(seed);
let nextDocument = 0;
while (oracle.steps < wantedSteps) {
  const isNext = oracle.steps >= nextDocument;
  if (isNext) nextDocument += STEPS_OF_A_DOCUMENT;
  for (const line of isNext ? oracle.start() : oracle.round()) await write(line);
}
