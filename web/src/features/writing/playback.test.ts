import { Slice, Fragment, type Node } from "prosemirror-model";
import { ReplaceStep, type Step } from "prosemirror-transform";
import { describe, expect, it } from "vitest";

import { schema } from "../editor/document/schema";
import { delayUntil, insertedBy, type PlaybackPage, PlaybackLog } from "./playback";

const insert = (at: number, text: string): Step =>
  new ReplaceStep(at, at, new Slice(Fragment.from(schema.text(text)), 0, 0));
const blank: Node = schema.node("doc", null, [schema.node("paragraph")]);

const commits = (count: number, userId: string) =>
  Array.from({ length: count }, (_, index) => ({
    version: index + 1,
    ref: `r${index}`,
    clientId: "c",
    userId,
    at: new Date(1_000 * index).toISOString(),
    steps: [insert(1, "x").toJSON() as Record<string, never>],
  }));

/** A service with two generations, which answers with at most three commits. */
function service(asked: object[]) {
  const all = [
    { generation: 1, list: commits(7, "ben"), doc: blank },
    {
      generation: 4,
      list: commits(2, "cem"),
      doc: schema.node("doc", null, [schema.node("paragraph", null, [schema.text("new")])]),
    },
  ];
  const generations = all.map(({ generation, list }) => ({
    generation,
    version: list.length,
    beganAt: new Date(0).toISOString(),
    lastCommitAt: null,
  }));
  return ({ generation, since }: { generation?: number; since: number }): Promise<PlaybackPage> => {
    asked.push({ generation, since });
    const shown = all.find((one) => one.generation === (generation ?? 1))!;
    const page = shown.list.slice(since, since + 3);
    return Promise.resolve({
      documentId: "d",
      generations,
      generation: shown.generation,
      doc: since === 0 ? (shown.doc.toJSON() as Record<string, never>) : null,
      commits: page,
      hasMore: since + 3 < shown.list.length,
      authors: [{ id: "ben", name: "Ben", image: null }],
    });
  };
}

describe("playback", () => {
  it("loads only the pages that are shown", async () => {
    const asked: object[] = [];
    const log = new PlaybackLog(service(asked));
    await log.loadUntil(0);
    expect(log.length).toBe(11);
    expect(log.loaded).toBe(4);
    await log.loadUntil(10);
    expect(asked).toEqual([
      { generation: undefined, since: 0 },
      { generation: 1, since: 3 },
      { generation: 1, since: 6 },
      { generation: 4, since: 0 },
    ]);
    expect(log.loaded).toBe(11);
    await log.loadUntil(10);
    expect(asked).toHaveLength(4);
  });

  it("shows the document at each moment, in any order", async () => {
    const log = new PlaybackLog(service([]));
    await log.loadUntil(10);
    const text = (index: number) => log.frame(index).doc.textContent;
    expect([text(7), text(0), text(3), text(8), text(10)]).toEqual(["xxxxxxx", "", "xxx", "new", "xxnew"]);
    expect(log.frame(8)).toMatchObject({ isBeginning: true, userId: null });
    expect(log.frame(3)).toMatchObject({ isBeginning: false, userId: "ben", inserted: [{ from: 1, to: 2 }] });
    expect([log.nameOf("ben"), log.nameOf("cem")]).toEqual(["Ben", undefined]);
    expect(() => log.frame(11)).toThrow(RangeError);
  });

  it("maps inserted ranges over later steps of the commit", () => {
    expect(insertedBy([insert(5, "abc"), insert(1, "xy")])).toEqual([
      { from: 7, to: 10 },
      { from: 1, to: 3 },
    ]);
  });

  it("shortens pauses and follows the speed", () => {
    const at = (millis: number) => new Date(millis).toISOString();
    expect(delayUntil(at(0), at(400), 2)).toBe(200);
    expect(delayUntil(at(0), at(3_600_000), 1)).toBe(1_500);
    expect(delayUntil(at(500), at(0), 1)).toBe(40);
  });
});
