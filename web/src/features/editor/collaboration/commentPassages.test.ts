import { EditorState, TextSelection } from "prosemirror-state";
import { describe, expect, it } from "vitest";

import { schema } from "../document/schema";
import { commentPlugin, commentsOf, confirmedPassage, showComments, threadAt } from "./commentPassages";
import { CursorTracker } from "./cursors";
import { collaboration, receiveCommits } from "./unconfirmed";

const start = () =>
  EditorState.create({
    doc: schema.node("doc", null, [schema.node("paragraph", null, schema.text("The river flows"))]),
    plugins: [collaboration(3), commentPlugin(() => undefined)],
  });

const insert = (state: EditorState, at: number, text: string) => state.apply(state.tr.insertText(text, at));

const passage = { threadId: "one", from: 5, to: 10, isResolved: false };

const textOf = (state: EditorState) =>
  commentsOf(state).passages.map(({ from, to }) => state.doc.textBetween(from, to));

describe("passages of comments", () => {
  it("move with the text, without what is inserted at their edges", () => {
    let state = start();
    state = state.apply(showComments(state, { passages: [passage] }));
    state = insert(state, 1, ">> ");
    state = insert(state, 10, "xx");
    state = insert(state, 8, "a");
    state = insert(state, 16, "b");
    expect(textOf(state)).toEqual(["rixxver"]);
    state = state.apply(state.tr.delete(9, 16));
    expect(textOf(state)).toEqual([]);
  });

  it("of resolved threads are found only while their thread is selected", () => {
    let state = start();
    state = state.apply(showComments(state, { passages: [{ ...passage, isResolved: true }] }));
    expect(threadAt(state, 7)).toBeUndefined();
    state = state.apply(showComments(state, { active: "one" }));
    expect(threadAt(state, 7)).toBe("one");
    expect(threadAt(state, 12)).toBeUndefined();
  });

  it("are known to the service without unconfirmed steps", () => {
    let state = insert(start(), 1, "Look: ");
    state = state.apply(state.tr.setSelection(TextSelection.create(state.doc, 11, 16)));
    const { from, to } = state.selection;
    expect(confirmedPassage(state, { from, to })).toEqual({ version: 3, from: 5, to: 10 });
    expect(confirmedPassage(state, { from: 2, to: 4 })).toBeUndefined();
  });

  it("of an older or newer version wait for the commits between", () => {
    const tracker = new CursorTracker();
    let state = insert(start(), 16, "!");
    const other = insert(start(), 1, "Look: ");
    const { steps } = other.tr.step(start().tr.insertText("Look: ", 1).steps[0]!);
    const commits = [{ version: 4, ref: "other", userId: "ben", steps }];
    expect(tracker.mappingFrom(state, 4)).toBeUndefined();
    state = receiveCommits(state, commits, undefined).state;
    expect(tracker.mappingFrom(state, 3)).toBeUndefined();
    tracker.addCommits(commits);
    expect(tracker.mappingFrom(state, 3)?.map(5, 1)).toBe(11);
    expect(tracker.mappingFrom(state, 4)?.map(5, 1)).toBe(5);
  });
});
