// Measures the requests and bytes of each step of a lesson, as the client sends them: the figures of docs/capacity.md.
//
//   GROUPWORK_BINARY=<release binary> node e2e/cost.mjs
//
// Each request is then repeated as often as the rate limits of one user allow, so that the CPU time of the service can be
// read from its process.
import { readFileSync } from "node:fs";

import { openHarness, ready } from "./pages.mjs";

/** Number of repetitions of each request, and how many run concurrently. */
const REPETITIONS = 400;
const CONCURRENCY = 8;
/** The kernel reports CPU time in hundredths of a second. */
const TICK_MS = 10;

const harness = await openHarness();
const requested = new Map();
try {
  const rivers = await harness.group("Rivers");
  const topic = await harness.topic("Landforms");
  const rows = [];
  for (const [who, steps] of [
    [
      "ana",
      [
        ["opens her groups", "/"],
        ["opens the work room", `/groups/${rivers.id}`],
      ],
    ],
    [
      "ada",
      [
        ["opens Today", "/"],
        ["opens the lesson board", `/topics/${topic.id}/board`],
      ],
    ],
  ]) {
    const page = await harness.page(who);
    for (const [step, path] of steps)
      rows.push(await cost(page, who, `${who === "ana" ? "a student" : "a teacher"} ${step}`, () => page.goto(path)));
    // The following screens are loaded from the browser cache.
    for (const [step, path] of steps)
      rows.push(await cost(page, who, `${step}, with a warm cache`, () => page.goto(path)));
    rows.push(await cost(page, who, "stays on that page for a minute", () => page.waitForTimeout(60_000)));
    if (who === "ana") {
      const ben = await harness.api("ben");
      rows.push(
        await cost(page, who, "receives a message", () =>
          ben.post(`/workrooms/${rivers.workRoomId}/messages`, { content: "Who has the map?" }),
        ),
      );
    } else {
      const ana = await harness.api("ana");
      rows.push(
        await cost(page, who, "receives a help request", () =>
          ana.post(`/groups/${rivers.id}/help`, { message: "Please come." }),
        ),
      );
    }
  }
  console.table(rows);
  console.table(await replay());
} finally {
  await harness.close();
}

/** Counts the requests of a page during an action and for some seconds after it. */
async function cost(page, who, step, act) {
  const counted = { step, "API requests": 0, "other requests": 0, "KB from the API": 0, "KB of the client": 0 };
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const kinds = new Map();
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    const { origin, pathname, search } = new URL(request.url);
    const api = pathname.startsWith("/api/");
    if (api && origin === harness.base && request.method === "GET")
      requested.set(template(pathname + search), { path: pathname + search, who });
    kinds.set(requestId, api ? "API" : "client");
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId);
    if (kind === undefined || encodedDataLength === 0) return;
    counted[kind === "API" ? "API requests" : "other requests"] += 1;
    counted[kind === "API" ? "KB from the API" : "KB of the client"] += encodedDataLength / 1000;
  });
  await act();
  await ready(page);
  await page.waitForTimeout(4000);
  await session.detach();
  for (const key of ["KB from the API", "KB of the client"]) counted[key] = Math.round(counted[key] * 10) / 10;
  return counted;
}

function template(path) {
  return path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ":id").replace("/api", "");
}

/** Repeats each request many times and returns the CPU time of the service per request. */
async function replay() {
  const rows = [];
  for (const [name, { path, who }] of requested) {
    const cookies = await harness.cookiesOf(who, false);
    const headers = {
      cookie: cookies.map((cookie) => `${cookie.name}=${cookie.value}`).join("; "),
      "accept-encoding": "identity",
    };
    const send = async () => {
      const response = await fetch(harness.base + path, { headers });
      if (!response.ok) throw new Error(`${name}: ${response.status}`);
      return (await response.arrayBuffer()).byteLength;
    };
    await waitForRateLimit(headers);
    await Promise.all(Array.from({ length: CONCURRENCY }, send));
    const before = ticks();
    const senders = Array.from({ length: CONCURRENCY }, async () => {
      for (let count = 0; count < REPETITIONS / CONCURRENCY; count += 1) await send();
    });
    await Promise.all(senders);
    rows.push({
      request: name,
      "CPU µs": Math.round(((ticks() - before) * TICK_MS * 1000) / REPETITIONS),
      bytes: await send(),
    });
  }
  return rows;
}

/** Waits until the rate limit of this user allows the next batch. */
async function waitForRateLimit(headers) {
  const response = await fetch(`${harness.base}/api/users/me`, { headers });
  if (Number(response.headers.get("ratelimit-remaining")) > REPETITIONS + 2 * CONCURRENCY) return;
  await new Promise((done) => setTimeout(done, (Number(response.headers.get("ratelimit-reset")) + 1) * 1000));
}

/** CPU time used by the service, in kernel ticks. */
function ticks() {
  const fields = readFileSync(`/proc/${harness.demo.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
