// Measures the first visit on a slow machine: the sign-in page and the lesson board should appear within 1.5 s with a CPU
// slowed down six times and a connection of 10 Mbit/s with 40 ms latency. `make weak` builds the release binary and runs
// this file; `make soak` runs it too. The output depends on the machine, so it never fails.
import { openHarness } from "./pages.mjs";

const CPU_SLOWDOWN = 6;
const NETWORK = { offline: false, latency: 40, downloadThroughput: 10_000_000 / 8, uploadThroughput: 10_000_000 / 8 };
const LIMIT_MS = 1_500;
const VISITS = 9;

const harness = await openHarness();
const rows = [];
try {
  const board = `/topics/${(await harness.topic("Landforms")).id}/board`;
  for (const [name, who, path, selector] of [
    ["sign-in", "nobody", "/login", "main h1"],
    ["lesson board", "ada", board, "[data-card]"],
  ]) {
    const times = [];
    for (let visit = 0; visit < VISITS; visit += 1) times.push(await shownAfter(who, path, selector));
    times.sort((one, other) => one - other);
    const median = times[Math.floor(VISITS / 2)];
    rows.push({
      screen: name,
      "median ms": median,
      "min ms": times[0],
      "max ms": times.at(-1),
      "within 1.5 s": median <= LIMIT_MS,
    });
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
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOWDOWN });
  await devtools.send("Network.emulateNetworkConditions", NETWORK);
  await page.addInitScript((target) => {
    const check = () => {
      if (document.querySelector(target)) window.shownAfter = performance.now();
      else requestAnimationFrame(check);
    };
    requestAnimationFrame(check);
  }, selector);
  await page.goto(path);
  await page.waitForFunction(() => window.shownAfter !== undefined);
  const shown = await page.evaluate(() => window.shownAfter);
  await page.context().close();
  return Math.round(shown);
}
