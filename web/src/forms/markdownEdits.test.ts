import { describe, expect, it } from "vitest";

import { pictureFile } from "../components/pictureFile";
import {
  applyEdit,
  completeAddress,
  type HtmlNode,
  insertLink,
  insertPicture,
  isWebAddress,
  markdownOf,
  pictureName,
  toggleLines,
  toggleMark,
} from "./markdownEdits";

/** A text with its selection between two bars, or its cursor at one. */
function at(marked: string) {
  const start = marked.indexOf("|");
  const end = marked.lastIndexOf("|") - (marked.indexOf("|") === marked.lastIndexOf("|") ? 0 : 1);
  return { text: marked.replaceAll("|", ""), start, end };
}

const element = (name: string, children: (HtmlNode | string)[], attributes: Record<string, string> = {}): HtmlNode => ({
  nodeName: name,
  textContent: null,
  childNodes: children.map((child) =>
    typeof child === "string" ? { nodeName: "#text", textContent: child, childNodes: [] } : child,
  ),
  getAttribute: (key) => attributes[key] ?? null,
});

describe("toggleMark", () => {
  it("puts marks around the words of a selection, and removes them again", () => {
    const selected = at("a |big |river");
    const bold = toggleMark(selected, "**");
    const text = applyEdit(selected.text, bold);
    expect(text).toBe("a **big** river");
    expect(text.slice(bold.start, bold.end)).toBe("big");
    expect(applyEdit(text, toggleMark({ text, start: bold.start, end: bold.end }, "**"))).toBe("a big river");
  });
  it("leaves the cursor between the marks without a selection", () => {
    const edit = toggleMark(at("a |"), "*");
    expect(applyEdit("a ", edit)).toBe("a **");
    expect([edit.start, edit.end]).toEqual([3, 3]);
  });
});

describe("toggleLines", () => {
  it("marks every selected line, counts numbers and replaces other marks", () => {
    const all = at("|one\n\ntwo|");
    expect(applyEdit(all.text, toggleLines(all, "list"))).toBe("- one\n\n- two");
    const items = at("|- one\n- two|");
    expect(applyEdit(items.text, toggleLines(items, "number"))).toBe("1. one\n2. two");
    expect(applyEdit(items.text, toggleLines(items, "list"))).toBe("one\ntwo");
  });
  it("separates a list from the paragraph above it", () => {
    const line = at("Text\nite|m");
    expect(applyEdit(line.text, toggleLines(line, "list"))).toBe("Text\n\n- item");
    const next = at("- one\ntw|o");
    expect(applyEdit(next.text, toggleLines(next, "list"))).toBe("- one\n- two");
  });
  it("starts a line in an empty text", () => {
    expect(applyEdit("", toggleLines(at("|"), "heading"))).toBe("## ");
  });
});

describe("links and pictures", () => {
  it("escapes words and addresses", () => {
    const edit = insertLink(at("see |here|"), "a [b]", "https://school.example/a (b)");
    expect(applyEdit("see here", edit)).toBe(String.raw`see [a \[b\]](https://school.example/a%20%28b%29)`);
  });
  it("accepts web and mail addresses only", () => {
    expect(["https://a.example", "mailto:a@b.example"].every(isWebAddress)).toBe(true);
    expect(["javascript:alert(1)", "data:text/html,x", "//a.example", "https://"].some(isWebAddress)).toBe(false);
    expect(["a.example/x", "ana@a.example", "http://a.example"].map(completeAddress)).toEqual([
      "https://a.example/x",
      "mailto:ana@a.example",
      "http://a.example",
    ]);
  });
  it("inserts a picture as a paragraph and finds its file again", () => {
    const edit = insertPicture(at("Text|"), "Map of the Rhine", "map 1.png");
    expect(applyEdit("Text", edit)).toBe("Text\n\n![Map of the Rhine](attachment:map%201.png)\n");
    expect(pictureFile("attachment:map%201.png")).toBe("map 1.png");
    expect(["https://elsewhere.example/x.png", "attachment:%", undefined].map(pictureFile)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
  it("names pictures so that names differ and need no escaping", () => {
    expect(pictureName("Größe (1).PNG", [])).toBe("Gro-e-1.png");
    expect(pictureName("karte.png", ["karte.png", "karte-2.png"])).toBe("karte-3.png");
    expect(pictureName("…jpg", [])).toMatch(/^[\w-]+\.\S+$/);
  });
});

describe("markdownOf", () => {
  it("keeps headings, lists, bold, italic and links, and nothing that runs or loads", () => {
    const page = element("BODY", [
      element("STYLE", ["p { color: red }"]),
      element("H2", ["Rivers"]),
      element("P", ["A ", element("B", ["long "]), "one, ", element("EM", ["very"]), " *old*."]),
      element("OL", [element("LI", ["Rhine"]), element("LI", ["Elbe"])]),
      element("P", [
        element("A", ["here"], { href: "https://school.example" }),
        element("A", ["there"], { href: "javascript:alert(1)" }),
        element("IMG", [], { src: "https://elsewhere.example/x.png", alt: "a map" }),
      ]),
      element("SCRIPT", ["alert(1)"]),
    ]);
    expect(markdownOf(page)).toBe(
      [
        "## Rivers",
        String.raw`A **long** one, *very* \*old\*.`,
        "1. Rhine\n2. Elbe",
        "[here](https://school.example)therea map",
      ].join("\n\n"),
    );
  });
});
