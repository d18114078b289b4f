import { describe, expect, it } from "vitest";

import { replySubject, listTeachers } from "./messages";

describe("messages", () => {
  it("list each teacher once, with the classes", () => {
    const ada = { id: "1", name: "Ada" };
    const tom = { id: "2", name: "Tom" };
    expect(
      listTeachers([
        { name: "7b", teacher: tom, coTeachers: [ada] },
        { name: "8a", teacher: ada, coTeachers: null },
      ]),
    ).toEqual([
      { id: "1", name: "Ada", note: "7b, 8a" },
      { id: "2", name: "Tom", note: "7b" },
    ]);
  });
  it("prefix a reply once", () => {
    expect(replySubject("Map")).toBe("Re: Map");
    expect(replySubject("Re: Map")).toBe("Re: Map");
    expect(replySubject(null)).toBe("");
  });
});
