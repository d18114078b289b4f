import { describe, expect, it } from "vitest";

import { composeTable, guessColumns, findMissingField, listNewHomerooms, parseRole, splitName } from "./columns";
import { decodeText, withoutFormula, parseTable, formatTable } from "./csv";

describe("csv", () => {
  it("parses commas, semicolons, tabs, quotes and all line endings", () => {
    expect(parseTable('a;b\r\n"1;""x""";2\n\n3;')).toEqual([["a", "b"], ['1;"x"', "2"], [""], ["3", ""]]);
    expect(parseTable("a,b\rc,d\r")).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect(parseTable('a\tb\n"two\nlines"\tc')).toEqual([
      ["a", "b"],
      ["two\nlines", "c"],
    ]);
  });
  it("round-trips", () => {
    const rows = [
      ["a", 'say "hi"'],
      ["1,5", "two\r\nlines"],
      ["", "Zoë"],
    ];
    expect(parseTable(formatTable(rows))).toEqual(rows);
  });
  it("decodes by byte order mark, as UTF-8, or as windows-1252", () => {
    expect(decodeText(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toEqual({ text: "a", encoding: "utf-8" });
    expect(decodeText(new Uint8Array([0xff, 0xfe, 0xfc, 0x00]))).toEqual({ text: "ü", encoding: "utf-16" });
    expect(decodeText(new Uint8Array([0x4d, 0xfc, 0x6c]))).toEqual({ text: "Mül", encoding: "windows-1252" });
  });
  it("reads what a German Excel writes", () => {
    const rows = [
      ["Nachname", "Vorname"],
      ["Müller; Groß", "Zoë"],
      ["Weiß", ""],
    ];
    const line = 'Nachname;Vorname\r\n"Müller; Groß";Zoë\r\nWeiß;\r\n';
    // Node decodes the bytes 0x80 to 0x9f as Latin-1, so they are not part of this test.
    const windows = Uint8Array.from(line, (sign) => sign.charCodeAt(0));
    const utf8 = new TextEncoder().encode(`\uFEFF${line}`);
    for (const [bytes, encoding] of [
      [windows, "windows-1252"],
      [utf8, "utf-8"],
    ] as const) {
      const decoded = decodeText(bytes);
      expect(decoded.encoding).toBe(encoding);
      expect(parseTable(decoded.text)).toEqual(rows);
    }
  });
  it("escapes formulas", () => {
    expect(["=1+1", "+49", "-1", "@x", "Ana"].map(withoutFormula)).toEqual(["'=1+1", "'+49", "'-1", "'@x", "Ana"]);
  });
});

describe("columns", () => {
  const reading = { columns: {}, defaultRole: "student", excludedHomerooms: [] } as const;
  it("are guessed from English and German titles", () => {
    expect(guessColumns(["Vorname", "Nachname", "E-Mail", "Klasse", "Haarfarbe"])).toEqual({
      firstName: 0,
      lastName: 1,
      email: 2,
      homeroom: 3,
    });
    expect(guessColumns(["Name", "Email address", "Role", "ID"])).toEqual({
      name: 0,
      email: 1,
      role: 2,
      externalId: 3,
    });
    expect(findMissingField(guessColumns(["Name", "Klasse"]))).toBeNull();
    expect(findMissingField(guessColumns(["E-Mail"]))).toBe("name");
    expect(findMissingField(guessColumns(["E-Mail", "Name"]))).toBeNull();
  });
  it("accept different notations of roles and names", () => {
    expect(["Schülerin", "TEACHER", "Lehrkraft", "caretaker"].map(parseRole)).toEqual([
      "student",
      "teacher",
      "teacher",
      "caretaker",
    ]);
    expect([splitName("Lima, Ana"), splitName("Ana Maria Lima"), splitName("Ana")]).toEqual([
      { firstName: "Ana", lastName: "Lima" },
      { firstName: "Ana Maria", lastName: "Lima" },
      { firstName: "", lastName: "Ana" },
    ]);
  });
  it("compose the table for the service row by row", () => {
    const rows = [
      ["Name", "E-Mail", "Klasse"],
      ["Lima, Ana", "ana@x.example", "8x"],
      [""],
      ["Ben Okoye", " ben@x.example ", "7b"],
    ];
    const columns = guessColumns(rows[0] ?? []);
    expect(composeTable(rows, { ...reading, columns, excludedHomerooms: ["8x"] })).toEqual([
      ["email", "firstName", "lastName", "role", "username", "externalId", "homeroom", "classes", "passwordHash"],
      ["ana@x.example", "Ana", "Lima", "student", "", "", "", "", ""],
      ["", "", "", "", "", "", "", "", ""],
      ["ben@x.example", "Ben", "Okoye", "student", "", "", "7b", "", ""],
    ]);
    expect(listNewHomerooms(rows, columns, ["7b"])).toEqual([{ name: "8x", count: 1 }]);
  });
});
