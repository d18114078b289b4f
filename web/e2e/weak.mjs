// How long the first visit takes on a weak machine: the sign-in and the lesson board are to be there within 1.5 s on a
// processor slowed six times, behind a line of 10 Mbit/s and 40 ms. `make weak` builds the service as it is given away and
// runs this; `make soak` does so too. It prints figures of this machine and this moment, and nothing fails.
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

/** Milliseconds until `selector` is drawn in a browser that has never been there. */
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
