// Limits bytes and CPU work of the first visit. School Chromebooks are slow, and thirty of them share one connection. How
// long the visit takes on such a machine is measured by weak.mjs (`make weak`), never here: a test that measures elapsed time
// fails when other processes run at the same time.
import assert from "node:assert/strict";

import { scenario, until } from "./harness.mjs";

const KB = 1_024;
/** Number of runs of the reference work. The first runs compile it; the fastest of the others is the unit. */
const RUNS = 6;

const kb = (bytes) => `${(bytes / KB).toFixed(1)} KB`;

/** Reference work of the kind a page does: allocates objects, sorts, serializes and parses them. */
function referenceWork() {
  let rows = Array.from({ length: 4_000 }, (_, index) => ({ id: (index * 7_919) % 4_001, name: `row ${index}` }));
  for (let run = 0; run < 20; run += 1) {
    rows = JSON.parse(
      JSON.stringify(rows.toSorted((one, other) => one.id - other.id || one.name.localeCompare(other.name))),
    ).reverse();
  }
  return rows.length;
}

/** Timers of this length do not elapse: what a page loads once it is idle (prefetchWhenIdle) does not belong to the first visit. */
const IDLE_MS = 1_500;
/** How long no request may have been pending until the page counts as loaded. */
const QUIET_MS = 2_000;

/** Loads a URL with an empty cache until nothing more is requested; returns the transferred bytes in total and per file. */
async function transferredBytes(harness, who, path, selector) {
  const page = await harness.page(who);
  await page.addInitScript((longest) => {
    const { setTimeout } = window;
    window.setTimeout = (run, delay, ...values) => (delay >= longest ? 0 : setTimeout(run, delay, ...values));
  }, IDLE_MS);
  const devtools = await page.context().newCDPSession(page);
  const urls = new Map();
  const files = [];
  let quietSince = Infinity;
  const pending = new Set();
  devtools.on("Network.requestWillBeSent", ({ requestId }) => pending.add(requestId));
  devtools.on("Network.responseReceived", ({ requestId, response }) => urls.set(requestId, response.url));
  const end = ({ requestId, encodedDataLength }) => {
    if (encodedDataLength !== undefined)
      files.push([new URL(urls.get(requestId) ?? "x:unknown").pathname, encodedDataLength]);
    pending.delete(requestId);
    quietSince = Date.now();
  };
  devtools.on("Network.loadingFinished", end);
  devtools.on("Network.loadingFailed", end);
  // A new context has an empty cache: a file that the page requests twice counts twice.
  await devtools.send("Network.enable");
  await load(page, path, selector);
  await until(() => pending.size === 0 && Date.now() - quietSince >= QUIET_MS, "all requests of the page are complete");
  return { files, bytes: files.reduce((sum, [, size]) => sum + size, 0) };
}

/** Returns the main-thread work until the page is complete, in units of the reference work. Uses CPU time, not elapsed time. */
async function unitsOfWork(harness, who, path, selector) {
  const page = await harness.page(who);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const taskDuration = async () =>
    (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  await load(page, path, selector);
  let before = await taskDuration();
  const total = before;
  let unit = Infinity;
  for (let run = 0; run < RUNS; run += 1) {
    await page.evaluate(referenceWork);
    const after = await taskDuration();
    unit = Math.min(unit, after - before);
    before = after;
  }
  return total / unit;
}

async function load(page, path, selector) {
  await page.goto(path);
  await page.locator(selector).first().waitFor();
  await page.waitForLoadState("networkidle");
}

// The texts of user names and of codes to sign in are needed before sign-in; they and the errors of deletions, copies and
// rubrics took 150 and 195 KB to these limits.
const SCREENS = [
  // 0.4 KB of it decide whether a sign-in has a second step, which is loaded on demand. 5.5 KB are loaded after the form: the
  // button for passkeys, its texts and the challenge, which the browser needs to suggest passkeys in the name field.
  { name: "sign-in", who: "nobody", path: () => "/login", selector: "main h1", maxKb: 158, maxUnits: 16 },
  {
    // With the class and the number of unread messages, which are requested last (1.7 KB).
    name: "lesson board",
    who: "ada",
    path: async (harness) => `/topics/${(await harness.topic("Landforms")).id}/board`,
    selector: "[data-card]",
    maxKb: 200,
    maxUnits: 24,
  },
];

for (const { name, who, path, selector, maxKb, maxUnits } of SCREENS) {
  scenario(`first load of the ${name} stays within ${maxKb} KB`, async (harness, t) => {
    const { files, bytes } = await transferredBytes(harness, who, await path(harness), selector);
    const largest = files
      .sort(([, one], [, other]) => other - one)
      .slice(0, 60)
      .map(([file, size]) => `${kb(size)} ${file}`);
    t.diagnostic(`${name}: ${kb(bytes)} in ${files.length} responses`);
    assert.ok(bytes <= maxKb * KB, `${bytes} bytes for the ${name}:\n  ${largest.join("\n  ")}`);
  });

  scenario(`first load of the ${name} needs at most ${maxUnits} units of work`, async (harness, t) => {
    const address = await path(harness);
    const results = [
      await unitsOfWork(harness, who, address, selector),
      await unitsOfWork(harness, who, address, selector),
      await unitsOfWork(harness, who, address, selector),
    ];
    t.diagnostic(`${name}: ${results.map((units) => units.toFixed(1)).join(", ")} units of work`);
    assert.ok(Math.min(...results) <= maxUnits, `the ${name} took ${results.join(", ")} units of work`);
  });
}
