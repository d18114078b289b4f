// Measures the built-in editor on a slow machine: a document of 20 pages with the CPU slowed down four and six times. How long
// it takes to open, by its address in a new tab and by its link in the work room, and from a key to the painted character. The
// output depends on the machine, so it never fails.
// `node e2e/weak-typing.mjs` uses the same binary as the tests (GROUPWORK_BINARY).
import { openHarness } from "./pages.mjs";

const SLOWDOWNS = [1, 4, 6];
const PAGES = 20;
/** About 500 words on a page: a heading and five paragraphs. */
const PARAGRAPHS_PER_PAGE = 5;
const WORDS =
  "the river carries sand and gravel from the mountains to the plain where it slows down and drops its load".split(" ");
const KEYS = 200;
/** A fast typist: 100 ms between two keys. */
const PAUSE_MS = 100;

/** Time in the work room before the document is opened, in which the client loads the editor's code. */
const ROOM_MS = 8_000;

const harness = await openHarness({ editor: "builtin" });
const rows = [];
try {
  const path = await longDocument();
  for (const slowdown of SLOWDOWNS) rows.push({ "CPU slowed": `${slowdown}×`, ...(await measure(path, slowdown)) });
} finally {
  await harness.close();
}
console.table(rows);

/** Creates the document through the API; returns its page. */
async function longDocument() {
  const group = await harness.group("Rivers", "ana");
  const api = await harness.api("ana");
  const created = await api.post(`/workrooms/${group.workRoomId}/documents`, { title: "Long", documentType: "word" });
  const at = `/workrooms/documents/${created.id}`;
  let { generation, version } = await api.get(`${at}/content`);
  for (let page = 1; page <= PAGES; page += 1) {
    const text = (words) => [
      { type: "text", text: Array.from({ length: words }, (_, index) => WORDS[index % WORDS.length]).join(" ") },
    ];
    const content = [
      { type: "heading", attrs: { level: 2 }, content: [{ type: "text", text: `Page ${page}` }] },
      ...Array.from({ length: PARAGRAPHS_PER_PAGE }, () => ({ type: "paragraph", content: text(100) })),
    ];
    const steps = [{ stepType: "replace", from: 0, to: 0, slice: { content } }];
    const sent = await api.post(`${at}/commits`, { generation, version, ref: `page-${page}`, clientId: "weak", steps });
    ({ version } = sent);
  }
  return `/groups/${group.id}/documents/${created.id}`;
}

async function measure(path, slowdown) {
  const page = await harness.page("ana");
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await page.addInitScript(() => {
    window.painted = [];
    window.awaitDocument = (from) => {
      delete window.shownAfter;
      const check = () => {
        const editor = document.querySelector('.document[contenteditable="true"]');
        if (editor?.textContent?.includes("Page 20")) window.shownAfter = performance.now() - from;
        else requestAnimationFrame(check);
      };
      requestAnimationFrame(check);
    };
    window.awaitDocument(0);
    // The frame after the key contains the character; the message is handled after that frame was painted.
    addEventListener(
      "keydown",
      ({ timeStamp }) =>
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => window.painted.push(performance.now() - timeStamp);
          port2.postMessage(null);
        }),
      true,
    );
  });
  await page.goto(path);
  const byAddress = await shownAfter(page);
  await page.goto(path.replace(/\/documents.*/, ""));
  const link = page.locator(`a[href^="${path}"]`).first();
  await link.waitFor();
  await page.waitForTimeout(ROOM_MS);
  await page.evaluate(() =>
    addEventListener("click", ({ timeStamp }) => window.awaitDocument(timeStamp), { capture: true, once: true }),
  );
  await page.evaluate(() => delete window.shownAfter);
  await link.click();
  const fromRoom = await shownAfter(page);
  // In the middle of the document.
  const paragraph = page.locator(".document p").nth((PAGES * PARAGRAPHS_PER_PAGE) / 2);
  await paragraph.scrollIntoViewIfNeeded();
  await paragraph.click();
  await page.waitForTimeout(2_000);
  await page.evaluate(() => window.painted.splice(0));
  const before = await paragraph.textContent();
  for (let key = 0; key < KEYS; key += 1) {
    await page.keyboard.press("x");
    await page.waitForTimeout(PAUSE_MS);
  }
  await page.waitForFunction((count) => window.painted.length >= count, KEYS);
  const times = (await page.evaluate(() => window.painted)).toSorted((one, other) => one - other);
  const typed = (await paragraph.textContent()).length - before.length;
  await page.context().close();
  const at = (share) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))]);
  return {
    "by address ms": byAddress,
    "from the room ms": fromRoom,
    keys: typed,
    "p50 ms": at(0.5),
    "p95 ms": at(0.95),
    "max ms": at(1),
  };
}

async function shownAfter(page) {
  await page.waitForFunction(() => window.shownAfter !== undefined);
  return Math.round(await page.evaluate(() => window.shownAfter));
}
