// @vitest-environment happy-dom
import { DOMParser as DocumentParser, Slice } from "prosemirror-model";
import { describe, expect, it } from "vitest";

import { schema } from "../document/schema";
import { cleanHtml, cleanSlice, depthOf, documentIds, nearestColor, parsePlainText } from "./paste";

function parse(html: string) {
  const page = document.createElement("div");
  page.innerHTML = cleanHtml(html);
  return DocumentParser.fromSchema(schema).parse(page).toString();
}

const word = (text: string, level: number, marker: string) =>
  `<p class=MsoListParagraphCxSpMiddle style='margin-left:36.0pt;mso-add-space:auto;text-indent:-18.0pt;mso-list:l0 level${level} lfo1'><![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>${marker}<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp; </span></span></span><![endif]>${text}<o:p></o:p></p>`;

describe("cleanHtml", () => {
  it("makes nested lists of the list paragraphs of Word", () => {
    const html = `<html><head><style>p{color:red}</style></head><body><!--StartFragment-->${word("one", 1, "·")}${word("inner", 2, "a.")}${word("two", 1, "·")}<p class=MsoNormal>after</p><!--EndFragment--></body></html>`;
    expect(parse(html)).toBe(
      'doc(bullet_list(list_item(paragraph("one"), ordered_list(list_item(paragraph("inner")))), list_item(paragraph("two"))), paragraph("after"))',
    );
  });

  it("keeps the first number of a numbered list of Word", () => {
    expect(parse(word("three", 1, "3."))).toBe('doc(ordered_list(list_item(paragraph("three"))))');
    const page = document.createElement("div");
    page.innerHTML = cleanHtml(word("three", 1, "3."));
    expect(page.querySelector("ol")?.getAttribute("start")).toBe("3");
  });

  it("reads the formats of Google Docs and not the wrapper of the whole copy", () => {
    const html =
      '<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1"><p dir="ltr"><span style="font-size:11pt;font-weight:400;">plain </span><span style="font-weight:700;">bold</span><span style="font-style:italic;"> slanted</span><span style="text-decoration:line-through;"> gone</span></p></b>';
    expect(parse(html)).toBe('doc(paragraph("plain ", strong("bold"), em(" slanted"), strike(" gone")))');
  });

  it("reads check lists of web pages", () => {
    expect(parse('<ul><li><input type="checkbox" checked>done</li><li><input type="checkbox">open</li></ul>')).toBe(
      'doc(check_list(check_item(paragraph("done")), check_item(paragraph("open"))))',
    );
  });

  it("drops scripts, styles, foreign pictures and unsafe links", () => {
    expect(
      parse(
        '<p onclick="x()">a<script>alert(1)</script><img src="https://example.org/x.png"><a href="javascript:alert(1)">b</a></p>',
      ),
    ).toBe('doc(paragraph("ab"))');
  });

  it("keeps links to web pages", () => {
    expect(parse('<p><a href="https://example.org/a?b=c">b</a></p>')).toBe('doc(paragraph(link("b")))');
  });

  it("maps colors to the nearest of the eight, and ignores black, white and those of links", () => {
    expect(
      parse(
        '<p><span style="color:#d01010">r</span><span style="color:#000000">b</span><span style="background-color:#ffff00">y</span></p>',
      ),
    ).toBe('doc(paragraph(color("r"), "b", highlight("y")))');
    expect(nearestColor("rgba(0, 0, 0, 0)", ["red"])).toBeUndefined();
  });

  it("limits headings to four levels and keeps tables", () => {
    expect(parse("<h6>six</h6><table><tr><th>a</th><td>b</td></tr></table>")).toBe(
      'doc(heading("six"), table(table_row(table_header(paragraph("a")), table_cell(paragraph("b")))))',
    );
  });
});

describe("cleanSlice", () => {
  const known = { styles: new Set(["Title"]), isOwn: (id: string) => id === "own" };

  it("removes unknown styles, and pictures and islands of other documents", () => {
    const doc = schema.node("doc", null, [
      schema.node("paragraph", { style: "Other" }, [
        schema.node("image", { src: "own" }),
        schema.node("image", { src: "foreign" }),
        schema.text("x"),
      ]),
      schema.node("paragraph", { style: "Title" }, [schema.text("y")]),
      schema.node("island_block", { id: "i" }),
      schema.node("island_block", { id: "own" }),
    ]);
    const { content } = cleanSlice(new Slice(doc.content, 0, 0), known);
    expect(content.childCount).toBe(3);
    expect(documentIds(new Slice(content, 0, 0))).toEqual(["own", "own"]);
    expect(content.child(0).attrs).toMatchObject({ style: null });
    expect(content.child(0).childCount).toBe(2);
    expect(content.child(1).attrs["style"]).toBe("Title");
  });

  it("drops a parent that would be empty", () => {
    const quote = schema.node("blockquote", null, [schema.node("island_block", { id: "i" })]);
    const slice = cleanSlice(new Slice(schema.node("doc", null, [quote]).content, 1, 1), known);
    expect(slice.size).toBe(0);
  });
});

describe("parsePlainText", () => {
  it("makes a table of tab-separated lines, and nothing of other text", () => {
    expect(parsePlainText("a\tb\nc\t\n", schema)?.content.firstChild?.toString()).toBe(
      'table(table_row(table_cell(paragraph("a")), table_cell(paragraph("b"))), table_row(table_cell(paragraph("c")), table_cell(paragraph)))',
    );
    expect(parsePlainText("a\nb", schema)).toBeUndefined();
  });
});

describe("depthOf", () => {
  it("counts nodes below the document", () => {
    const list = schema.node("bullet_list", null, [schema.node("list_item", null, [schema.node("paragraph")])]);
    expect(depthOf(schema.node("doc", null, [list]))).toBe(3);
  });
});
