// What the steps of a lesson cost in requests and bytes, as the client really asks: the arithmetic of docs/capacity.md.
//
//   GROUPWORK_BINARY=<binary> node e2e/cost.mjs
import { openStage, ready } from "./pages.mjs";

const stage = await openStage();
try {
  const rivers = await stage.group("Rivers");
  const topic = await stage.topic("Landforms");
  const rows = [];
  for (const [who, steps] of [
    ["ana", [["opens her groups", "/"], ["opens the work room", `/g/${rivers.id}`]]],
    ["ada", [["opens Today", "/"], ["opens the lesson board", `/t/${topic.id}/board`]]],
  ]) {
    const page = await stage.page(who);
    for (const [step, path] of steps) rows.push(await cost(page, `${who === "ana" ? "a pupil" : "a teacher"} ${step}`, () => page.goto(path)));
    // What follows comes from the cache of the browser.
    for (const [step, path] of steps) rows.push(await cost(page, `the same, again: ${step}`, () => page.goto(path)));
    rows.push(await cost(page, "a minute on the last of these, nothing happens", () => page.waitForTimeout(60_000)));
    if (who === "ana") {
      const ben = await stage.api("ben");
      rows.push(
        await cost(page, "a message of somebody else arrives", () => ben.post(`/workrooms/${rivers.workRoomId}/messages`, { content: "Who has the map?" })),
      );
    } else {
      const ana = await stage.api("ana");
      rows.push(await cost(page, "a group calls for help", () => ana.post(`/groups/${rivers.id}/help`, { message: "Please come." })));
    }
  }
  console.table(rows);
} finally {
  await stage.close();
}

/** Counts what a page asks while something happens and for some seconds after it. */
async function cost(page, step, act) {
  const counted = { step, "API requests": 0, "other requests": 0, "KB from the API": 0, "KB of the client": 0 };
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const kinds = new Map();
  session.on("Network.requestWillBeSent", ({ requestId, request }) => {
    const api = new URL(request.url).pathname.startsWith("/api/");
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
