// Measures the first visit on a slow machine: the sign-in page and the lesson board should appear within 1.5 s with a CPU
// slowed down six times and a connection of 10 Mbit/s with 40 ms latency. `make weak` builds the release binary and runs
// this file; `make soak` runs it too. The output depends on the machine, so it never fails.
import { openHarness } from "./pages.mjs";

const SLOWER = 6;
const LINE = { offline: false, latency: 40, downloadThroughput: 10_000_000 / 8, uploadThroughput: 10_000_000 / 8 };
const LONGEST = 1_500;
const VISITS = 9;

const harness = await openHarness();
const rows = [];
try {
  const board = `/t/${(await harness.topic("Landforms")).id}/board`;
  for (const [name, who, path, selector] of [
    ["sign-in", "nobody", "/login", "main h1"],
    ["lesson board", "ada", board, "[data-card]"],
  ]) {
    const times = [];
    for (let visit = 0; visit < VISITS; visit += 1) times.push(await shownAfter(who, path, selector));
    times.sort((one, other) => one - other);
    const median = times[Math.floor(VISITS / 2)];
    rows.push({ screen: name, "median ms": median, "least ms": times[0], "most ms": times.at(-1), "within 1.5 s": median <= LONGEST });
  }
} finally {
  await harness.close();
}
console.table(rows);

/** Milliseconds until `selector` is visible in a browser with an empty cache. */
async function shownAfter(who, path, selector) {
  const page = await harness.page(who);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  await devtools.send("Network.emulateNetworkConditions", LINE);
  await page.addInitScript((wanted) => {
    const look = () => {
      if (document.querySelector(wanted)) window.shownAfter = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, selector);
  await page.goto(path);
  await page.waitForFunction(() => window.shownAfter !== undefined);
  const shown = await page.evaluate(() => window.shownAfter);
  await page.context().close();
  return Math.round(shown);
}
