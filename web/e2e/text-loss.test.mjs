// Random runs of two students who write in the built-in editor while networks are cut, the service is killed, and pages are
// reloaded, closed or crash. Then the topic is finished, and some pages are opened again. Every character that an editor showed
// is afterwards in the document, in a late version, or offered to its writer, and none is in the document twice. `npm run e2e`
// makes two runs; GROUPWORK_LOSS_RUNS sets the number, GROUPWORK_LOSS_SEED repeats a run.
import assert from "node:assert/strict";
import { inflateRawSync } from "node:zlib";

import { scenario, until, useDemo } from "./harness.mjs";

useDemo({ editor: "builtin" });

const RUNS = Number(process.env.GROUPWORK_LOSS_RUNS ?? 2);
const SEED = Number(process.env.GROUPWORK_LOSS_SEED ?? Math.floor(Math.random() * 1e9));
const RUNS_PER_GROUP = 20;
const EVENTS = ["cut", "kill", "reload", "close", "crash", "write"];
/** Messages of the browser for requests that fail in these runs. */
const EXPECTED = [/ERR_/, /WebSocket/, /status of (404|409|423|50\d)/];
/** Each writer has characters of its own, and uses each of them once. */
const FIRST_CHARACTER = { ana: 0x4e00, ben: 0xac00 };

/** Returns a generator of random integers below a limit (mulberry32). */
function randomNumbers(seed) {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** Returns the main part of a text document. */
function mainPart(bytes) {
  for (let at = bytes.length - 22; at >= 0; at -= 1) {
    if (bytes.readUInt32LE(at) !== 0x06054b50) continue;
    let entry = bytes.readUInt32LE(at + 16);
    for (let left = bytes.readUInt16LE(at + 10); left > 0; left -= 1) {
      const [size, name, extra, comment, local] = [
        bytes.readUInt32LE(entry + 20),
        bytes.readUInt16LE(entry + 28),
        bytes.readUInt16LE(entry + 30),
        bytes.readUInt16LE(entry + 32),
        bytes.readUInt32LE(entry + 42),
      ];
      if (bytes.toString("utf8", entry + 46, entry + 46 + name) === "word/document.xml") {
        const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
        const data = bytes.subarray(start, start + size);
        return (bytes.readUInt16LE(entry + 10) === 0 ? data : inflateRawSync(data)).toString("utf8");
      }
      entry += 46 + name + extra + comment;
    }
  }
  throw new Error("not a text document");
}

/** A student with a page of the document. */
class Writer {
  isCut = false;
  /** Characters that the editor has shown. */
  written = [];
  #used = 0;

  constructor(harness, who, page) {
    Object.assign(this, { harness, who, page, context: page.context() });
  }

  async open(path) {
    await this.page.goto(path);
    await this.page.locator(".document").waitFor();
  }

  /** Types some characters at a random place, and notes which of them the editor shows. */
  async write(random) {
    const from = FIRST_CHARACTER[this.who] + this.#used;
    const count = 1 + random(6);
    const typed = Array.from({ length: count }, (_, index) => String.fromCodePoint(from + index));
    this.#used += count;
    const text = this.page.locator('.document[contenteditable="true"]');
    if ((await text.count()) === 0) return;
    // The text may become read-only at any moment.
    await text.evaluateAll(([element]) => element?.focus());
    await this.page.keyboard.press(random(2) === 0 ? "Control+End" : "Control+Home");
    if (random(4) === 0) await this.page.keyboard.press("Enter");
    for (const character of typed) await this.page.keyboard.insertText(character);
    const shown = await this.page.evaluate(() => document.querySelector(".document")?.textContent ?? "");
    this.written.push(...typed.filter((character) => shown.includes(character)));
  }

  async cut(isCut) {
    this.isCut = isCut;
    await this.context.setOffline(isCut);
  }

  /** Closes or crashes the tab, possibly without a network, and opens the document in another one with it. */
  async replace(path, crashes) {
    if (crashes) {
      const session = await this.context.newCDPSession(this.page);
      const crashed = this.page.waitForEvent("crash");
      // The crashed page never responds.
      session.send("Page.crash").catch(() => undefined);
      await crashed;
    }
    await this.page.close();
    await this.cut(false);
    this.page = await this.context.newPage();
    await this.open(path);
  }

  /** What the page offers its writer because its place in the document is gone. */
  async remainders() {
    const shown = this.page.locator("section.editor-notice");
    return (await shown.count()) === 0 ? "" : await shown.first().textContent();
  }
}

/** Everything that the service has of a document: its content, and its content with all late versions. */
async function stored(harness, document) {
  const ada = await harness.api("ada");
  const cookie = (await harness.cookiesOf("ada", false)).map(({ name, value }) => `${name}=${value}`).join("; ");
  const download = async (path) => {
    const response = await fetch(`${harness.base}/api/workrooms/documents/${document}${path}`, { headers: { cookie } });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return mainPart(Buffer.from(await response.arrayBuffer()));
  };
  const content = await download("/download");
  const versions = await ada.get(`/workrooms/documents/${document}/versions`);
  const late = versions.filter(({ origin }) => origin.startsWith("LATE"));
  const texts = await Promise.all(late.map(({ version }) => download(`/versions/${version}/download`)));
  return { content, all: [content, ...texts].join("\n") };
}

async function newTopic(harness, group, title) {
  const ada = await harness.api("ada");
  const topic = await ada.post("/assignments", {
    title,
    description: "One page.",
    deadline: "2099-01-01T00:00:00Z",
    classId: group.classId,
    courseId: group.courseId,
    groupIds: [group.id],
  });
  const documents = `/workrooms/${group.workRoomId}/documents`;
  const created = await ada.post(documents, { title, documentType: "word", assignmentId: topic.id });
  return { topic: topic.id, document: created.id, path: `/groups/${group.id}/documents/${created.id}?mode=edit` };
}

async function newGroup(harness) {
  const [ada, rivers] = [await harness.api("ada"), await harness.group("Rivers")];
  const memberIds = rivers.members.filter(({ user }) => /^(Ana|Ben)\b/.test(user.name)).map(({ user }) => user.id);
  assert.equal(memberIds.length, 2);
  const { classId, courseId } = rivers;
  return ada.post("/groups", { classId, courseId, memberIds, name: `Group ${Date.now()}` });
}

/** One run. Returns the number of characters that were written. */
async function run(harness, group, number, random) {
  const { topic, document, path } = await newTopic(harness, group, `Run ${number}`);
  const writers = [];
  for (const who of random(2) === 0 ? ["ana"] : ["ana", "ben"]) {
    const writer = new Writer(harness, who, await harness.page(who, { allow: EXPECTED }));
    await writer.open(path);
    writers.push(writer);
  }
  const events = [];
  const write = async () => {
    for (const writer of writers) await writer.write(random);
  };
  for (let left = 2 + random(4); left > 0; left -= 1) {
    await write();
    const [event, writer] = [EVENTS[random(EVENTS.length)], writers[random(writers.length)]];
    events.push(`${event} ${writer.who}`);
    if (event === "cut") await writer.cut(!writer.isCut);
    else if (event === "kill") {
      await harness.demo.kill();
      await write();
      await harness.demo.start();
    } else if (event === "reload") {
      // A page cannot be loaded without a network.
      await writer.cut(false);
      await writer.page.reload();
      await writer.page.locator(".document").waitFor();
    } else if (event !== "write") await writer.replace(path, event === "crash");
  }
  // The topic is finished while some have unsent text and others write.
  await write();
  const ada = await harness.api("ada");
  if (random(2) === 0) await Promise.all([ada.post(`/assignments/${topic}/finish`), write()]);
  else await ada.post(`/assignments/${topic}/finish`);
  await write();
  for (const writer of writers) {
    if (random(3) === 0) {
      events.push(`open ${writer.who} again`);
      await writer.replace(path, random(2) === 0);
    } else await writer.cut(false);
  }
  const description = `seed ${SEED}, run ${number}: ${events.join(", ")}`;
  const all = writers.flatMap(({ written }) => written);
  let missing = all;
  let found;
  await until(async () => {
    found = await stored(harness, document);
    const offered = await Promise.all(writers.map((writer) => writer.remainders()));
    const everything = [found.all, ...offered].join("\n");
    missing = all.filter((character) => !everything.includes(character));
    return missing.length === 0;
  }, "every character is stored").catch(() => undefined);
  assert.deepEqual(missing, [], `${description}: ${missing.length} of ${all.length} characters are lost`);
  const twice = all.filter((character) => found.content.split(character).length > 2);
  assert.deepEqual(twice, [], `${description}: characters are in the document twice`);
  return all.length;
}

scenario(
  "no character is lost in random runs of cut, kill, reload and finish",
  async (harness, t) => {
    let [group, characters] = [undefined, 0];
    for (let number = 0; number < RUNS; number += 1) {
      if (number % RUNS_PER_GROUP === 0) group = await newGroup(harness);
      characters += await run(harness, group, number, randomNumbers(SEED + number));
      assert.deepEqual(await harness.closePages(), [], `unasserted errors of run ${number}, seed ${SEED}`);
    }
    t.diagnostic(`${RUNS} runs from seed ${SEED}: ${characters} characters, none lost`);
  },
  { timeout: 180_000 + RUNS * 120_000 },
);
