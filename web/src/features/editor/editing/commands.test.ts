import type { Node } from "prosemirror-model";
import { type Command, EditorState, TextSelection } from "prosemirror-state";
import { describe, expect, it } from "vitest";

import english from "../../../i18n/en/editor.json";
import { schema } from "../document/schema";
import { keyNames } from "../../../components/keyNames";
import { hasMark, insertBlock, listAround, setLink, toggle, toggleList } from "../../rich-text/commands";
import { moveBlock, newTable, setAlign, setBlock, setColor } from "./commands";
import { findMatches } from "./find";
import { keyBindings, KEYS } from "./keys";
import { countWords, outlineOf } from "./statistics";
import { markType } from "../document/schema";

const paragraph = (text: string) => schema.node("paragraph", null, text === "" ? [] : [schema.text(text)]);
const documentOf = (...blocks: Node[]) => schema.node("doc", null, blocks);

function open(doc: Node, anchor: number, head = anchor): EditorState {
  return EditorState.create({ doc, selection: TextSelection.create(doc, anchor, head) });
}

function run(state: EditorState, command: Command): EditorState {
  let next = state;
  expect(command(state, (transaction) => (next = state.apply(transaction)))).toBe(true);
  next.doc.check();
  return next;
}

describe("toggleList", () => {
  it("wraps paragraphs, changes the kind of a list, and takes the items out again", () => {
    let state = open(documentOf(paragraph("one"), paragraph("two")), 1, 8);
    state = run(state, toggleList("bullet_list"));
    expect(state.doc.toString()).toBe('doc(bullet_list(list_item(paragraph("one")), list_item(paragraph("two"))))');
    state = run(state, toggleList("ordered_list"));
    expect(listAround(state)).toBe("ordered_list");
    state = run(state, toggleList("check_list"));
    expect(state.doc.toString()).toBe('doc(check_list(check_item(paragraph("one")), check_item(paragraph("two"))))');
    state = run(state, toggleList("check_list"));
    expect(state.doc.toString()).toBe('doc(paragraph("one"), paragraph("two"))');
  });

  it("makes a list item of a heading", () => {
    const heading = schema.node("heading", { level: 2 }, [schema.text("Title")]);
    expect(run(open(documentOf(heading), 2), toggleList("bullet_list")).doc.toString()).toBe(
      'doc(bullet_list(list_item(paragraph("Title"))))',
    );
  });
});

describe("setBlock", () => {
  it("changes all selected blocks and keeps their alignment", () => {
    let state = open(documentOf(paragraph("one"), paragraph("two")), 1, 8);
    state = run(state, setAlign("center"));
    state = run(state, setBlock("h2"));
    expect(state.doc.firstChild?.attrs).toMatchObject({ level: 2, align: "center" });
    expect(state.doc.lastChild?.type.name).toBe("heading");
  });

  it("takes a style of the document, and gives it back", () => {
    let state = run(open(documentOf(paragraph("one")), 1), setBlock("style:Caption"));
    expect(state.doc.firstChild?.attrs["style"]).toBe("Caption");
    state = run(state, setBlock("paragraph"));
    expect(state.doc.firstChild?.attrs["style"]).toBeNull();
  });

  it("does nothing in a list item, whose first block is a paragraph", () => {
    const list = schema.node("bullet_list", null, [schema.node("list_item", null, [paragraph("one")])]);
    expect(setBlock("h1")(open(documentOf(list), 3))).toBe(false);
  });
});

describe("marks", () => {
  it("toggles a mark of a selection and reports it", () => {
    const state = run(open(documentOf(paragraph("one two")), 1, 4), toggle("strong"));
    expect(hasMark(state, markType("strong"))).toBe(true);
    expect(run(state, toggle("strong")).doc.toString()).toBe('doc(paragraph("one two"))');
  });

  it("replaces a color and removes it", () => {
    let state = run(open(documentOf(paragraph("one")), 1, 4), setColor("highlight", "green"));
    state = run(state, setColor("highlight", "pink"));
    expect(state.doc.firstChild?.firstChild?.marks.map(({ attrs }) => attrs["color"])).toEqual(["pink"]);
    expect(run(state, setColor("highlight", null)).doc.firstChild?.firstChild?.marks).toEqual([]);
  });

  it("inserts the text of a link where nothing is selected, and changes the link at the cursor", () => {
    let state = run(open(documentOf(paragraph("see ")), 5), setLink("https://example.org", "here"));
    expect(state.doc.textContent).toBe("see here");
    state = state.apply(state.tr.setSelection(TextSelection.create(state.doc, 7)));
    state = run(state, setLink("https://example.org/new", ""));
    expect(state.doc.firstChild?.lastChild?.marks[0]?.attrs["href"]).toBe("https://example.org/new");
    expect(state.doc.textContent).toBe("see here");
  });
});

describe("insertBlock", () => {
  it("replaces an empty paragraph, and puts the cursor into a new table", () => {
    const state = run(open(documentOf(paragraph("one"), paragraph("")), 6), insertBlock(newTable(2, 2)));
    expect(state.doc.childCount).toBe(3);
    expect(state.doc.child(1).type.name).toBe("table");
    expect(state.selection.$from.node(-1).type.name).toBe("table_header");
  });

  it("inserts after the block with the cursor", () => {
    const state = run(open(documentOf(paragraph("one"), paragraph("two")), 2), insertBlock(schema.node("page_break")));
    expect(state.doc.toString()).toBe('doc(paragraph("one"), page_break, paragraph("two"))');
  });
});

describe("moveBlock", () => {
  it("swaps a paragraph with its neighbor and keeps the cursor in it", () => {
    const state = run(open(documentOf(paragraph("one"), paragraph("two")), 7), moveBlock(-1));
    expect(state.doc.toString()).toBe('doc(paragraph("two"), paragraph("one"))');
    expect(state.selection.from).toBe(2);
    expect(moveBlock(-1)(state)).toBe(false);
  });
});

describe("keys", () => {
  it("has a description for every key, and every key once", () => {
    const keys = Object.values(KEYS).flat();
    expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
    expect(keys.map(({ name }) => name).toSorted()).toEqual(Object.keys(english.editor.keys.of).toSorted());
  });

  it("starts actions of the user interface", () => {
    const started: string[] = [];
    const bindings = keyBindings((action) => started.push(action));
    expect(bindings["Mod-k"]?.(open(documentOf(paragraph("")), 1))).toBe(true);
    expect(started).toEqual(["link"]);
  });

  it("splits a checked item into an unchecked one on Enter, and leaves the list in an empty item", () => {
    const item = schema.node("check_item", { checked: true }, [paragraph("one")]);
    const enter = keyBindings(() => undefined)["Enter"]!;
    let state = run(open(documentOf(schema.node("check_list", null, [item])), 6), enter);
    expect(state.doc.firstChild?.lastChild?.attrs["checked"]).toBe(false);
    state = run(state, enter);
    expect(state.doc.toString()).toBe('doc(check_list(check_item(paragraph("one"))), paragraph)');
  });

  it("turns a heading into a paragraph on Backspace at its beginning", () => {
    const heading = schema.node("heading", { level: 1 }, [schema.text("one")]);
    const backspace = keyBindings(() => undefined)["Backspace"]!;
    expect(run(open(documentOf(heading), 1), backspace).doc.toString()).toBe('doc(paragraph("one"))');
  });

  it("adds a row behind the last cell of a table on Tab", () => {
    const doc = documentOf(newTable(1, 1));
    expect(run(open(doc, 4), keyBindings(() => undefined)["Tab"]!).doc.firstChild?.childCount).toBe(2);
  });

  it("names keys as they are printed", () => {
    expect(keyNames("Mod-Shift-7", { control: "Strg", shift: "Umschalt" }, false)).toEqual(["Strg", "Umschalt", "7"]);
    expect(keyNames("Mod-Alt-0", { control: "Ctrl", shift: "Shift" }, true)).toEqual(["⌘", "⌥", "0"]);
  });
});

describe("findMatches", () => {
  it("finds text across marks, ignores case, and does not extend over blocks", () => {
    const doc = documentOf(
      schema.node("paragraph", null, [schema.text("The Ri"), schema.text("ver", [schema.mark("strong")])]),
      paragraph("river rises"),
    );
    expect(findMatches(doc, "river", false)).toEqual([
      { from: 5, to: 10 },
      { from: 12, to: 17 },
    ]);
    expect(findMatches(doc, "river", true)).toEqual([{ from: 12, to: 17 }]);
    expect(findMatches(doc, "riverriver", false)).toEqual([]);
  });

  it("keeps positions after characters whose lower case is longer", () => {
    expect(findMatches(documentOf(paragraph("İstanbul river")), "river", false)).toEqual([{ from: 10, to: 15 }]);
  });
});

describe("statistics", () => {
  it("counts words in several scripts", () => {
    expect(countWords("It’s 3.5 km – über die Brücke, e-mail")).toBe(7);
    expect(countWords(" \n ")).toBe(0);
  });

  it("lists headings with their levels", () => {
    const heading = schema.node("heading", { level: 3 }, [schema.text("Source")]);
    expect(outlineOf(documentOf(paragraph("x"), heading))).toEqual([{ level: 3, text: "Source", at: 4 }]);
  });
});
