import { describe, expect, it } from "vitest";

import { type Class, schoolYear, yearAfter } from "../classes/classes";
import type { ListedGroup } from "../groups/groups";
import type { Course } from "./courses";
import { coursesAt, buildFolders, parseNodeId, nodeIdsOf } from "./folders";
import { withGroups } from "../groups/useMembers";
import { progressOf } from "./progress";
import { partial, type DeepPartial } from "../../testing/partial";
import { parseLocation } from "./location";

const BIO = { id: "bio", name: "Biology", color: null };
const GEO = { id: "geo", name: "Geography", color: "#2f7d4f" };

const one = (id: string, change: DeepPartial<Class> = {}) =>
  partial<Class>({ id, name: id, status: "ACTIVE", subjects: [], coTeachers: [], ...change });
const course = (
  id: string,
  classId: string,
  subject: typeof BIO | typeof GEO,
  change: { status?: Course["status"]; of?: Class["status"] } = {},
) =>
  partial<Course>({
    id,
    name: id,
    classId,
    subjectId: subject.id,
    subject,
    status: change.status ?? "ACTIVE",
    class: { id: classId, status: change.of ?? "ACTIVE" },
  });

describe("folders", () => {
  const classes = [
    one("7b", { subjects: [BIO] }),
    one("8a", { coTeachers: undefined }),
    one("old", { status: "ARCHIVED" }),
  ];
  const courses = [
    course("Earth", "7b", GEO),
    course("Past", "7b", GEO, { status: "ARCHIVED" }),
    course("Theirs", "8a", GEO),
    course("Gone", "old", BIO, { of: "ARCHIVED" }),
  ];

  it("keep subjects without courses, and omit other teachers' classes and archived ones", () => {
    const found = buildFolders(classes, courses, {});
    expect(found.map((folder) => folder.of.id)).toEqual(["7b"]);
    expect(found[0]?.subjects.map((subject) => [subject.name, subject.courses.map((each) => each.id)])).toEqual([
      ["Biology", []],
      ["Geography", ["Earth"]],
    ]);
  });

  it("show archived courses, including courses of archived classes", () => {
    expect(coursesAt(buildFolders(classes, courses, { status: "ARCHIVED" }), {}).map((each) => each.id)).toEqual([
      "Past",
      "Gone",
    ]);
  });

  it("show other teachers' classes on request, and the class named in the URL", () => {
    expect(buildFolders(classes, courses, { everyone: true }).map((folder) => folder.of.id)).toEqual(["7b", "8a"]);
    expect(buildFolders(classes, courses, { class: "old" }).map((folder) => folder.of.id)).toEqual(["7b", "old"]);
  });

  it("round-trip through tree node ids", () => {
    for (const location of [{}, { class: "7b" }, { class: "7b", subject: "geo" }, { loose: true as const }])
      expect(parseNodeId(nodeIdsOf(location))).toEqual({ location });
    expect(parseNodeId("course:1:wait")).toEqual({ course: "1" });
  });

  it("ignore unknown values of the URL", () => {
    expect(parseLocation({ class: "", status: "GONE", everyone: "yes", loose: 1 })).toEqual({});
  });
});

it("school year begins in August and can be incremented", () => {
  expect(schoolYear(new Date(2026, 6, 31))).toBe("2025/2026");
  expect(schoolYear(new Date(2026, 7, 1))).toBe("2026/2027");
  expect(["2026/2027", "2026/27", "2099-00", "spring"].map(yearAfter)).toEqual([
    "2027/2028",
    "2027/28",
    "2100-01",
    "spring",
  ]);
});

it("students without a group come first, then by group in server order", () => {
  const group = (groupNumber: number, ...ids: string[]) =>
    partial<ListedGroup>({ groupNumber, members: ids.map((userId) => ({ userId })) });
  const people = ["Zoe", "Ana", "Ben", "Cleo"].map((name) => ({ user: { id: name, name } }));
  expect(withGroups(people, [group(1, "Zoe", "Ana"), group(2, "Cleo")]).map((line) => line.student.user.name)).toEqual([
    "Ben",
    "Zoe",
    "Ana",
    "Cleo",
  ]);
});

it("graded work counts as submitted", () => {
  expect(
    progressOf({
      groupAssignments: [],
      stats: { groups: 8, notStarted: 1, inProgress: 2, submitted: 3, returned: 0, graded: 2, late: 0 },
    }),
  ).toEqual({ groups: 8, handedIn: 5, graded: 2 });
});
