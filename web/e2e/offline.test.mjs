// The service stops and restarts: the page reports it immediately, keeps everything on the screen, and shows missed
// changes by itself.
import assert from "node:assert/strict";

import { eventually, scenario } from "./harness.mjs";

const LIVE = /^(● )?Live$/;
// The simulated document server restarts at a different address, which the CSP of the loaded page does not allow in a frame.
const GONE = [
  /frame-src/,
  /ERR_CONNECTION_REFUSED/,
  /ERR_CONNECTION_RESET/,
  /ERR_EMPTY_RESPONSE/,
  /ERR_SOCKET_NOT_CONNECTED/,
  /ERR_INCOMPLETE_CHUNKED_ENCODING/,
  /WebSocket connection/,
];

for (const way of ["kill", "stop"]) {
  scenario(`board recovers after the server ends by ${way}`, async (harness, t) => {
    const topic = await harness.topic("Landforms");
    const ada = await harness.page("ada", { path: `/topics/${topic.id}/board`, allow: GONE });
    await ada.locator("[data-card]").first().waitFor();
    await ada.getByText(LIVE).first().waitFor();
    // The waiting time of a help request continues to count without the server.
    const cards = async () =>
      (await ada.locator("[data-card]").allTextContents()).map((text) => text.replace(/\d+:\d\d/, ""));
    const before = await eventually(async () => {
      const texts = await cards();
      assert.equal(texts.length, 8);
      return texts;
    });

    const offline = ada.getByText(/^(○ )?Offline/).first();
    const shown = offline.waitFor();
    await harness.demo[way]();
    const gone = Date.now();
    await shown;
    // Must appear before this limit: without any message on the connection, the page would refetch after 45 seconds.
    t.diagnostic(`said ${Date.now() - gone} ms after the end`);
    assert.deepEqual(await cards(), before, "nothing is removed");

    await harness.demo.start();
    // Happens while the page may not have noticed the restart yet, so the page has to fetch what it missed.
    const group = await harness.group("Coasts");
    const rename = `Coasts and cliffs (${way})`;
    await (await harness.api("ada")).patch(`/groups/${group.id}`, { displayName: rename });
    await ada.getByText(LIVE).first().waitFor();
    await ada.locator("[data-card]").filter({ hasText: rename }).first().waitFor();
    await offline.waitFor({ state: "detached" });
  });
}

scenario("disconnected student keeps the room and unsent text", async (harness) => {
  const group = await harness.group("Rivers", "ana");
  const ana = await harness.page("ana", { path: `/groups/${group.id}`, allow: GONE });
  const line = ana.locator("textarea").first();
  await line.fill("Nobody has read this yet");
  await harness.demo.kill();
  await ana
    .getByText(/^(○ )?Offline/)
    .first()
    .waitFor();
  await line.press("Enter");
  await ana.getByText("Nobody has read this yet").or(line).first().waitFor();
  await eventually(async () =>
    assert.ok((await ana.locator("main").innerText()).includes("Rivers"), "the room is still shown"),
  );
  await harness.demo.start();
  await ana.getByText(LIVE).first().waitFor();
  await eventually(async () => {
    const kept = (await line.inputValue()) + (await ana.locator("main").innerText());
    assert.ok(kept.includes("Nobody has read this yet"), "the text is kept");
  });
});
