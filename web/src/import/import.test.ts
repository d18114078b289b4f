import { describe, expect, it } from "vitest";

import { compose, guess, missing, newRooms, readRole, split } from "./columns";
import { decode, harmless, readTable, writeTable } from "./table";

describe("a table", () => {
  it("is read with commas, semicolons and tabs, quotes and all ends of lines", () => {
    expect(readTable('a;b\r\n"1;""x""";2\n\n3;')).toEqual([["a", "b"], ['1;"x"', "2"], [""], ["3", ""]]);
    expect(readTable("a,b\rc,d\r")).toEqual([["a", "b"], ["c", "d"]]);
    expect(readTable('a\tb\n"two\nlines"\tc')).toEqual([["a", "b"], ["two\nlines", "c"]]);
  });
  it("comes back as it was written", () => {
    const rows = [["a", 'say "hi"'], ["1,5", "two\r\nlines"], ["", "Zoë"]];
    expect(readTable(writeTable(rows))).toEqual(rows);
  });
  it("is decoded by its mark, as UTF-8, or as Windows writes", () => {
    expect(decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toEqual({ text: "a", encoding: "utf-8" });
    expect(decode(new Uint8Array([0xff, 0xfe, 0xfc, 0x00]))).toEqual({ text: "ü", encoding: "utf-16" });
    expect(decode(new Uint8Array([0x4d, 0xfc, 0x6c]))).toEqual({ text: "Mül", encoding: "windows-1252" });
  });
  it("has no formulas", () => {
    expect(["=1+1", "+49", "-1", "@x", "Ana"].map(harmless)).toEqual(["'=1+1", "'+49", "'-1", "'@x", "Ana"]);
  });
});

describe("columns", () => {
  const reading = { places: {}, everybody: "student", without: [] } as const;
  it("are guessed by their names in English and German", () => {
    expect(guess(["Vorname", "Nachname", "E-Mail", "Klasse", "Haarfarbe"])).toEqual({ firstName: 0, lastName: 1, email: 2, homeroom: 3 });
    expect(guess(["Name", "Email address", "Role", "ID"])).toEqual({ name: 0, email: 1, role: 2, externalId: 3 });
    expect(missing(guess(["Name", "Klasse"]))).toBe("email");
    expect(missing(guess(["E-Mail"]))).toBe("name");
    expect(missing(guess(["E-Mail", "Name"]))).toBeNull();
  });
  it("say roles and names in many ways", () => {
    expect(["Schülerin", "TEACHER", "Lehrkraft", "caretaker"].map(readRole)).toEqual(["student", "teacher", "teacher", "caretaker"]);
    expect([split("Lima, Ana"), split("Ana Maria Lima"), split("Ana")]).toEqual([
      { firstName: "Ana", lastName: "Lima" },
      { firstName: "Ana Maria", lastName: "Lima" },
      { firstName: "", lastName: "Ana" },
    ]);
  });
  it("make the table the service wants, row by row", () => {
    const rows = [["Name", "E-Mail", "Klasse"], ["Lima, Ana", "ana@x.example", "8x"], [""], ["Ben Okoye", " ben@x.example ", "7b"]];
    const places = guess(rows[0] ?? []);
    expect(compose(rows, { ...reading, places, without: ["8x"] })).toEqual([
      ["email", "firstName", "lastName", "role", "externalId", "homeroom", "classes", "passwordHash"],
      ["ana@x.example", "Ana", "Lima", "student", "", "", "", ""],
      ["", "", "", "", "", "", "", ""],
      ["ben@x.example", "Ben", "Okoye", "student", "", "7b", "", ""],
    ]);
    expect(newRooms(rows, places, ["7b"])).toEqual([{ name: "8x", count: 1 }]);
  });
});
