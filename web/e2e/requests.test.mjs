// Limits the requests of a full load: each query is asked once, because the realtime connection says whether anything changed
// since the page began to read.
import assert from "node:assert/strict";

import { ready, scenario, until } from "./harness.mjs";

/** Time after the page is complete in which it must not ask again; a refetch would follow the connection after 2 s. */
const QUIET_MS = 4_000;
/** Age at which a page asks again for what it shows (`staleTime` in main.tsx). A load that takes as long is repeated. */
const STALE_MS = 15_000;
const ATTEMPTS = 5;

const SCREENS = [
  { name: "Today", who: "ada", most: 5, path: () => "/today" },
  {
    name: "the lesson board",
    who: "ada",
    most: 7,
    path: async (harness) => `/topics/${(await harness.topic("Landforms")).id}/board`,
  },
  { name: "the list of courses", who: "ada", most: 5, path: () => "/courses" },
  {
    name: "a work room",
    who: "ana",
    most: 10,
    path: async (harness) => `/groups/${(await harness.group("Rivers", "ana")).id}`,
  },
];

/** Loads a page with a new cache, and returns its requests to the API. */
async function requestsOfLoad(harness, who, path) {
  const page = await harness.page(who);
  const asked = [];
  const state = { isLive: false };
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith("/api/") && !pathname.startsWith("/api/socket.io"))
      asked.push(`${request.method()} ${pathname}${search}`);
  });
  page.on("websocket", (socket) =>
    socket.on("framereceived", ({ payload }) => (state.isLive ||= String(payload).includes('"ready"'))),
  );
  await page.goto(path);
  await ready(page);
  await until(() => state.isLive, "the realtime connection is open");
  await page.waitForTimeout(QUIET_MS);
  return asked;
}

for (const { name, who, most, path } of SCREENS) {
  scenario(`full load of ${name} sends at most ${most} requests, each once`, async (harness, t) => {
    const address = await path(harness);
    let asked;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const began = Date.now();
      asked = await requestsOfLoad(harness, who, address);
      if (Date.now() - began < STALE_MS) break;
    }
    t.diagnostic(asked.join("\n"));
    assert.equal(new Set(asked).size, asked.length, `asked twice:\n${asked.join("\n")}`);
    assert.ok(asked.length <= most, `${asked.length} requests:\n${asked.join("\n")}`);
  });
}

scenario("change between the first response and the connection is fetched", async (harness) => {
  const topic = await harness.topic("Landforms");
  const page = await harness.page("ada");
  // The handshake waits until a group has asked for help, which the board read before it.
  let connect;
  const connecting = new Promise((resolve) => (connect = resolve));
  await page.routeWebSocket(/socket\.io/, async (socket) => {
    await connecting;
    socket.connectToServer();
  });
  await page.goto(`/topics/${topic.id}/board`);
  await ready(page);
  const rivers = await harness.group("Rivers");
  await (await harness.api("ana")).post(`/groups/${rivers.id}/help`, { message: "Where is the map?" });
  connect();
  await page.getByText("Where is the map?").first().waitFor();
});
