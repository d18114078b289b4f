import { EditorState, TextSelection } from "prosemirror-state";
import { history, undo } from "prosemirror-history";
import type { Node } from "prosemirror-model";
import { ReplaceStep, type Step, Transform } from "prosemirror-transform";
import { describe, expect, it } from "vitest";

import { type Random, seeded } from "../../../testing/random";
import { schema } from "../document/schema";
import { insertedText } from "./insertedText";
import { copyStep, MemoryAuthority, rebaseOver } from "./memoryAuthority";
import { collaboration, collaborationOf, markSent, receiveCommits, replaySteps, type StoredSteps } from "./unconfirmed";

const paragraph = (text: string) => schema.node("paragraph", null, text === "" ? [] : [schema.text(text)]);
const firstDoc = schema.node("doc", null, [
  paragraph("A river carries stones."),
  schema.node("bullet_list", null, [
    schema.node("list_item", null, [paragraph("source 🏔️")]),
    schema.node("list_item", null, [paragraph("mouth")]),
  ]),
  schema.node("table", null, [
    schema.node("table_row", null, [
      schema.node("table_cell", null, [paragraph("one")]),
      schema.node("table_cell", null, [paragraph("two")]),
    ]),
  ]),
  paragraph("End."),
]);

const newState = (doc: Node, version: number) =>
  EditorState.create({ doc, plugins: [collaboration(version), history({ newGroupDelay: 0 })] });

/** One author with a connection that can be cut: commits wait until they are delivered. */
class Author {
  state: EditorState;
  inFlight: { ref: string; version: number; steps: readonly Step[] } | undefined;
  lost: string[] = [];
  #count = 0;

  constructor(
    readonly name: string,
    private readonly authority: MemoryAuthority,
  ) {
    this.state = newState(authority.doc, authority.version);
  }

  receive() {
    const { version } = collaborationOf(this.state);
    const commits = this.authority.log.slice(version);
    const result = receiveCommits(this.state, commits, this.inFlight?.ref);
    if (commits.some(({ ref }) => ref === this.inFlight?.ref)) this.inFlight = undefined;
    this.state = result.state;
    this.lost.push(...result.lost);
  }

  send() {
    if (this.inFlight === undefined) {
      if (collaborationOf(this.state).unconfirmed.length === 0) return;
      const marked = markSent(this.state);
      this.state = marked.state;
      this.#count += 1;
      const { version } = collaborationOf(this.state);
      this.inFlight = { ref: `${this.name}-${this.#count}`, version, steps: marked.steps };
    }
    // Sending again after a lost response appends nothing.
    this.authority.appendNow(this.inFlight);
  }

  settle() {
    this.receive();
    this.send();
  }

  /** What the page stores, and a new page that begins with it. */
  reload() {
    const { unconfirmed, version } = collaborationOf(this.state);
    const stored: StoredSteps = {
      version,
      sent: this.inFlight && { ref: this.inFlight.ref, count: unconfirmed.filter(({ isSent }) => isSent).length },
      steps: unconfirmed.map(({ step }) => copyStep(schema, step)),
    };
    this.inFlight = undefined;
    const { transform, lost } = replaySteps(this.authority.doc, stored, this.authority.log.slice(version));
    this.state = newState(this.authority.doc, this.authority.version);
    const { tr } = this.state;
    for (const step of transform.steps) tr.step(step);
    this.state = this.state.apply(tr);
    this.lost.push(lost);
  }

  edit(random: Random) {
    const { doc, tr } = this.state;
    const at = random.below(doc.content.size + 1);
    const near = TextSelection.near(doc.resolve(at)).from;
    switch (random.below(8)) {
      case 0: {
        const end = Math.min(doc.content.size, near + random.below(12));
        if (end > near) tr.deleteRange(near, end);
        break;
      }
      case 1:
        if (doc.resolve(near).parent.isTextblock) tr.split(near);
        break;
      case 2:
        tr.addMark(near, Math.min(doc.content.size, near + random.below(9)), schema.mark("strong"));
        break;
      case 3: {
        undo(this.state, (transaction) => (this.state = this.state.apply(transaction)));
        return;
      }
      case 4: {
        const $at = doc.resolve(near);
        if ($at.parent.type.name === "paragraph") tr.setBlockType(near, near, schema.nodes["heading"]!, { level: 2 });
        break;
      }
      default:
        if (doc.resolve(near).parent.isTextblock) tr.insertText(["a", "bc ", "🦦", "ü"][random.below(4)]!, near);
    }
    if (tr.docChanged) this.state = this.state.apply(tr);
  }
}

function play(seed: number, options: { rebase?: typeof rebaseOver; reloads: boolean }): void {
  const random = seeded(seed);
  const authority = new MemoryAuthority(firstDoc, options.rebase);
  const authors = ["ana", "ben", "cem"].map((name) => new Author(name, authority));
  for (let round = 0; round < 60; round += 1) {
    const author = authors[random.below(authors.length)]!;
    const action = random.below(options.reloads ? 12 : 11);
    if (action < 7) author.edit(random);
    else if (action < 9) author.send();
    else if (action < 11) author.receive();
    else author.reload();
  }
  for (let round = 0; round < 3; round += 1) {
    for (const author of authors) author.settle();
  }
  for (const author of authors) {
    author.receive();
    expect(collaborationOf(author.state).unconfirmed).toHaveLength(0);
    expect(author.state.doc.toJSON()).toEqual(authority.doc.toJSON());
    author.state.doc.check();
  }
  expect(authority.docAt(authority.version).eq(authority.doc)).toBe(true);
}

describe("collaboration", () => {
  it("converges after 1,000 seeded runs of concurrent edits, undo, repeated sends and reloads", () => {
    for (let seed = 1; seed <= 1_000; seed += 1) play(seed, { reloads: true });
  }, 120_000);

  it("converges on the log where the service rebases in another way than the client", () => {
    // This service drops every third commit that is not based on the newest version.
    let count = 0;
    const other: typeof rebaseOver = (doc, steps, over) => {
      count += 1;
      return over.length > 0 && count % 3 === 0 ? { doc, steps: [] } : rebaseOver(doc, steps, over);
    };
    for (let seed = 1; seed <= 300; seed += 1) play(seed, { rebase: other, reloads: true });
  }, 120_000);

  it("loses no typed character when each author types in an own paragraph and reloads at any moment", () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = seeded(seed);
      const doc = schema.node("doc", null, [paragraph("ana:"), paragraph("ben:")]);
      const authority = new MemoryAuthority(doc);
      const authors = ["ana", "ben"].map((name) => new Author(name, authority));
      const typed = new Map(authors.map(({ name }) => [name, `${name}:`]));
      for (let round = 0; round < 60; round += 1) {
        const author = authors[random.below(2)]!;
        const action = random.below(10);
        if (action < 5) {
          const letter = String.fromCharCode(97 + random.below(26));
          let end = 0;
          author.state.doc.forEach((node, offset) => {
            if (node.textContent.startsWith(author.name)) end = offset + node.nodeSize - 1;
          });
          author.state = author.state.apply(author.state.tr.insertText(letter, end));
          typed.set(author.name, typed.get(author.name)! + letter);
        } else if (action < 7) author.send();
        else if (action < 9) author.receive();
        else author.reload();
      }
      for (let round = 0; round < 3; round += 1) for (const author of authors) author.settle();
      const lines = authority.doc.content.content.map(({ textContent }) => textContent);
      expect(lines).toEqual([...typed.values()]);
    }
  }, 120_000);
});

describe("receiveCommits", () => {
  const open = (text = "one two") => {
    const authority = new MemoryAuthority(schema.node("doc", null, [paragraph(text)]));
    return { authority, ana: new Author("ana", authority), ben: new Author("ben", authority) };
  };

  it("returns own unconfirmed text whose place another author has deleted", () => {
    const { ana, ben } = open();
    ana.state = ana.state.apply(ana.state.tr.insertText("mine ", 5));
    ben.state = ben.state.apply(ben.state.tr.delete(3, 8));
    ben.send();
    ana.receive();
    expect(ana.lost).toEqual(["mine "]);
    expect(ana.state.doc.textContent).toBe("on");
  });

  it("returns own text that only the service has dropped", () => {
    const authority = new MemoryAuthority(schema.node("doc", null, [paragraph("one")]), (doc) => ({ doc, steps: [] }));
    const ana = new Author("ana", authority);
    ana.state = ana.state.apply(ana.state.tr.insertText("mine", 4));
    ana.send();
    ana.receive();
    expect(ana.lost).toEqual(["mine"]);
    expect(ana.state.doc.textContent).toBe("one");
  });

  it("undoes only own changes after changes of others", () => {
    const { ana, ben } = open();
    ana.state = ana.state.apply(ana.state.tr.insertText("A", 1));
    ana.send();
    ben.receive();
    ben.state = ben.state.apply(ben.state.tr.insertText("B", 2));
    ben.send();
    ana.receive();
    expect(ana.state.doc.textContent).toBe("ABone two");
    undo(ana.state, (transaction) => (ana.state = ana.state.apply(transaction)));
    expect(ana.state.doc.textContent).toBe("Bone two");
  });

  it("keeps the cursor in the own text while others insert in front of it", () => {
    const { ana, ben } = open();
    ana.state = ana.state.apply(ana.state.tr.setSelection(TextSelection.create(ana.state.doc, 5)));
    ben.state = ben.state.apply(ben.state.tr.insertText("many ", 1));
    ben.send();
    ana.receive();
    expect(ana.state.selection.from).toBe(10);
  });

  it("rejects a gap in the log", () => {
    const { ana } = open();
    expect(() => receiveCommits(ana.state, [{ version: 2, ref: "x", userId: null, steps: [] }], undefined)).toThrow(
      "missing",
    );
  });
});

describe("insertedText", () => {
  it("separates blocks by line breaks", () => {
    const { steps } = new Transform(schema.node("doc", null, [paragraph("")])).insert(0, [
      paragraph("one"),
      paragraph("two"),
    ]);
    expect(steps[0]).toBeInstanceOf(ReplaceStep);
    expect(insertedText(steps)).toBe("one\ntwo");
  });
});
