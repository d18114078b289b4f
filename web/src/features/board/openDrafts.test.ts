import { expect, test } from "vitest";

import type { Schemas } from "../../api/client";
import { linksToCreate, NO_TOPIC, documentsStayingOpen } from "./openDrafts";

const group = { id: "g", name: "Group 1", groupNumber: 1, displayName: null, courseId: null };
const draft = (documentId: string): Schemas["UnlinkedDraft"] => ({
  documentId,
  title: documentId,
  documentType: "word",
  group,
  topics: [{ assignmentId: "u", title: "Plants", deadline: "2026-11-24T08:00:00Z" }],
});
const drafts = [draft("a"), draft("b"), draft("c")];

test("draft without a chosen topic is not linked", () => {
  expect(linksToCreate(drafts, {})).toEqual([]);
  expect(linksToCreate(drafts, { a: NO_TOPIC, b: "u", c: "t", gone: "u" })).toEqual([
    { documentId: "b", assignmentId: "u" },
    { documentId: "c", assignmentId: "t" },
  ]);
});

test("draft stays open when another topic is chosen for it", () => {
  const open = [
    { documentId: "o", title: "o", documentType: "word" as const, group, assignmentId: "u", assignmentTitle: "Plants" },
  ];
  expect(documentsStayingOpen(open, drafts, {}, "t")).toEqual(open);
  const all = documentsStayingOpen(open, drafts, { a: "u", b: "t", c: NO_TOPIC }, "t");
  expect(all.map((one) => [one.documentId, one.assignmentTitle])).toEqual([
    ["o", "Plants"],
    ["a", "Plants"],
  ]);
});
