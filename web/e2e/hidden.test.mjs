// A group that starts next week does not exist for its students: not in lists, not at its URL, not in titles, responses
// or events.
import assert from "node:assert/strict";

import { ready, scenario } from "./harness.mjs";

const SECRETS = ["map makers", "Draw the map of an island"];

scenario("group with future start date is never visible to its students", async (harness) => {
  const group = await harness.group("Next week: the map makers");
  const topic = await harness.topic("Draw the map of an island");
  assert.ok(
    group.members.some((member) => member.user.name === "Ana Lima"),
    "the student is a member",
  );
  const hidden = [...SECRETS, group.id, group.workRoomId, topic.id];

  const recorded = [];
  const ana = await harness.page("ana", { allow: [/status of 40[34]/] });
  const bodies = [];
  ana.on("response", (answer) => {
    if (answer.url().includes("/api/") && !answer.url().includes("socket.io"))
      bodies.push(
        answer.text().then(
          (text) => recorded.push([answer.url(), text]),
          () => undefined,
        ),
      );
  });
  ana.on("websocket", (socket) =>
    socket.on("framereceived", ({ payload }) => recorded.push(["an event", String(payload)])),
  );
  const addresses = [
    "/groups",
    `/groups/${group.id}`,
    `/groups/${group.id}/documents/${group.id}`,
    `/topics/${topic.id}`,
    `/topics/${topic.id}/board`,
    `/topics/${topic.id}/projector`,
    `/topics/${topic.id}/work/${group.id}`,
    "/messages",
  ];
  for (const address of addresses) {
    await ana.goto(address);
    await ready(ana, "h1, [role=alert]");
    await ana.waitForFunction(() => document.title !== "");
    const shown = `${await ana.title()}\n${await ana.locator("body").innerText()}`;
    for (const secret of hidden) assert.ok(!shown.includes(secret), `${address} shows ${secret}`);
  }
  // A change in the hidden group while the student looks at the list does not reach the list.
  await ana.goto("/groups");
  await ready(ana);
  const ada = await harness.api("ada");
  await ada.patch(`/groups/${group.id}`, { displayName: "Map makers of 7b" });
  await ada.patch(`/assignments/${topic.id}`, { description: "Draw it on paper first." });
  // An event that everyone may receive arrives afterwards on the same connection.
  const rivers = await harness.group("Rivers");
  await ada.patch(`/groups/${rivers.id}`, { displayName: "Rivers and streams" });
  await ana.getByText("Rivers and streams").first().waitFor();
  await Promise.all(bodies);
  assert.ok(
    recorded.some(([what]) => what.includes("/api/groups")) && recorded.some(([what]) => what === "an event"),
    "responses and events were recorded",
  );
  for (const [what, text] of recorded)
    for (const secret of [...hidden, "Map makers of 7b"])
      assert.ok(!text.includes(secret), `${what} contains ${secret}: ${text.slice(0, 300)}`);

  // The teacher sees the group, marked as hidden.
  const teacher = await harness.page("ada", { path: `/topics/${topic.id}/board` });
  await teacher
    .getByText(/map makers/i)
    .first()
    .waitFor();
});
