// Lesson board by keyboard, and state that must not be lost: a help request, a message, a moved student, added time.
import assert from "node:assert/strict";

import { eventually, focusIs, rendered, scenario, until } from "./harness.mjs";

const boardOf = async (harness, options = {}) => {
  const page = await harness.page("ada", {
    path: `/topics/${(await harness.topic("Landforms")).id}/board`,
    ...options,
  });
  await page.locator("[data-card]").first().waitFor();
  await rendered(page);
  return page;
};
const note = (page, text) => page.getByRole("alertdialog").filter({ hasText: text });
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Groups in the help queue, longest waiting first. Two demo groups ask at the same time, so either may be first. */
const waiting = async (harness) => {
  const { helpQueue, groups } = await (
    await harness.api("ada")
  ).get(`/assignments/${(await harness.topic("Landforms")).id}/board`);
  return helpQueue.map((id) => groups.find((card) => card.group.id === id).group);
};

scenario("keyboard opens the first help request, moves between cards, opens a work and returns", async (harness) => {
  const board = await boardOf(harness);
  const [first, ...others] = await waiting(harness);
  await board.getByText(first.name).first().waitFor();
  await board.waitForFunction((title) => document.title.startsWith(title), `(${others.length + 1}) Landforms`);
  await press(board, "h");
  await focusIs(board, `Handled: ${first.groupNumber} ${first.name}`);
  await press(board, "3");
  await focusIs(board, /Glaciers/);
  await press(board, "ArrowRight");
  await focusIs(board, /Deserts/);
  await press(board, "Home");
  await focusIs(board, /Rivers/);
  for (const { name } of [first, ...others]) {
    await press(board, "n");
    await focusIs(board, new RegExp(name), "who waits for help comes first");
  }
  await press(board, "n");
  await focusIs(board, /Coasts/, "then what was handed in");

  await press(board, "m");
  const dialog = board.getByRole("dialog");
  await dialog.getByRole("textbox").fill("h 3 b / – these are words, no shortcuts");
  await dialog.getByRole("textbox").press("h");
  await press(board, "Escape");
  await dialog.waitFor({ state: "detached" });
  await focusIs(board, /Coasts/, "the focus comes back to the card");

  await press(board, "Enter");
  await board.waitForURL(/\/work\//);
  await board.goBack();
  await board.waitForFunction(() => document.activeElement?.textContent?.includes("Coasts"));

  await press(board, "?");
  await dialog.getByRole("checkbox").press("Space");
  await dialog.getByRole("checkbox", { checked: false }).waitFor();
  await press(board, "Escape");
  await dialog.waitFor({ state: "detached" });
  await focusIs(board, /Coasts/);
  await press(board, "3", "ArrowRight");
  await focusIs(board, /Islands/, "single keys are switched off, so the arrow leads on from Coasts");
});

scenario("handled help request is restored by undo and when the service rejects the update", async (harness) => {
  const board = await boardOf(harness, { allow: [/status of 503/] });
  const call = board.locator("aside ol > li").filter({ hasText: "Volcanoes" });
  await call.waitFor();
  const others = (await waiting(harness)).filter((group) => group.name !== "Volcanoes").map((group) => group.name);
  await call.getByRole("button", { name: /^Handled/ }).click();
  await call.waitFor({ state: "detached" });
  for (const other of others) await board.locator("aside ol > li").filter({ hasText: other }).waitFor();
  await note(board, "handled").getByRole("button", { name: "Undo" }).click();
  await call.waitFor();
  const volcanoes = await harness.group("Volcanoes");
  assert.equal(volcanoes.needsHelp, true, "the service received no update");

  await board.route("**/help/resolve", (route) =>
    route.fulfill({
      status: 503,
      contentType: "application/json",
      body: JSON.stringify({ code: "OVERLOADED", message: "busy" }),
    }),
  );
  await call.getByRole("button", { name: /^Handled/ }).click();
  await call.waitFor({ state: "detached" });
  await note(board, "handled").getByRole("button", { name: "Close" }).click();
  await note(board, "still waiting").waitFor();
  await call.waitFor();
  await board.unroute("**/help/resolve");

  const cleo = await harness.page("cleo", { path: `/groups/${volcanoes.id}` });
  await cleo
    .getByText(/Your teacher knows/)
    .first()
    .waitFor();
  await call.getByRole("button", { name: /^I'm going/ }).click();
  await call.getByText("You are on the way").waitFor();
  await cleo.getByText("Ada Turner is coming").waitFor();
  await call.getByRole("button", { name: /^Handled/ }).click();
  // Leaving the page immediately sends the update that the undo toast still delays.
  await board.goto("/help");
  await cleo.getByRole("button", { name: "Ask for help" }).first().waitFor();
});

scenario("message to all groups is delivered once per group, also after a retry", async (harness) => {
  const board = await boardOf(harness, { allow: [/status of 503/] });
  const { workRoomId } = await harness.group("Glaciers");
  const refused = (url) => url.pathname.endsWith(`/workrooms/${workRoomId}/messages`);
  await board.route(refused, (route) =>
    route.fulfill({
      status: 503,
      contentType: "application/json",
      body: JSON.stringify({ code: "OVERLOADED", message: "busy" }),
    }),
  );
  await board.getByRole("button", { name: "Message all" }).click();
  const dialog = board.getByRole("dialog");
  await dialog.getByRole("textbox").fill("The atlas is on my desk.");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByText(/Not reached: 3 Glaciers/).waitFor();
  await board.unroute(refused);
  await dialog.getByRole("button", { name: "Send again to 1 group" }).click();
  await note(board, "Sent to 8 groups").waitFor();
  // The page of a test recognizes the timers of toasts, see pages.mjs.
  await board.waitForFunction(() => window.keptToasts > 0);
  const ada = await harness.api("ada");
  for (const name of ["Rivers", "Glaciers"]) {
    const { data } = await ada.get(`/workrooms/${(await harness.group(name)).workRoomId}/messages`);
    assert.equal(data.filter((one) => one.content === "The atlas is on my desk.").length, 1, name);
  }
});

scenario("reminder reaches the groups that have not submitted and see the topic", async (harness) => {
  const board = await boardOf(harness);
  const ada = await harness.api("ada");
  const { groups } = await ada.get(`/assignments/${(await harness.topic("Landforms")).id}/board`);
  const isReminded = (card) => !card.group.isHidden && !["SUBMITTED", "GRADED"].includes(card.groupAssignment.status);
  const count = groups.filter(isReminded).length;
  assert.ok(count > 0 && count < groups.length, "the demo has groups that submitted");
  await board.getByRole("button", { name: "Message all" }).click();
  const dialog = board.getByRole("dialog");
  await dialog.getByText(/^Not submitted/).click();
  await dialog.getByRole("button", { name: "Please submit now." }).click();
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await note(board, `Sent to ${count} groups`).waitFor();
  for (const card of groups) {
    const { data } = await ada.get(`/workrooms/${card.group.workRoomId}/messages`);
    const received = data.filter((one) => one.content === "Please submit now.").length;
    assert.equal(received, isReminded(card) ? 1 : 0, card.group.name);
  }
  await board.goto("/activity");
  await board
    .getByText(/reminded the groups that had not submitted Landforms/)
    .first()
    .waitFor();
});

scenario("moving a student and extending the deadline can be undone", async (harness) => {
  const board = await boardOf(harness);
  const card = (name) => board.locator("article").filter({ hasText: name });
  // The response arrives after the event that already shows the move.
  const hold = async (route) => {
    const response = await route.fetch();
    await card("Deserts").getByText("Ben Okoye").waitFor();
    await route.fulfill({ response });
  };
  await board.route("**/move", hold, { times: 1 });
  await card("Rivers").getByRole("button").click();
  await board.getByRole("menuitem", { name: /Move Ben Okoye/ }).click();
  await board
    .getByRole("dialog")
    .getByRole("button", { name: /4 Deserts/ })
    .click();
  await card("Deserts").getByText("Ben Okoye").waitFor();
  await note(board, "Ben Okoye is in 4 Deserts").getByRole("button", { name: "Undo" }).click();
  await card("Rivers").getByText("Ben Okoye").waitFor();

  const before = (await harness.topic("Landforms")).deadline;
  await board.getByRole("button", { name: "+5 min" }).click();
  const times = board.getByRole("dialog").locator("[aria-live]").filter({ hasText: "For all 8 groups." });
  const shown = await times.innerText();
  // The response arrives when the page has renewed the board already.
  await board.route(
    "**/bulk",
    async (route) => {
      const response = await route.fetch();
      await eventually(async () => assert.notEqual(await times.innerText(), shown));
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  await board.getByRole("button", { name: "Give 5 more minutes" }).click();
  await note(board, "New end").waitFor();
  assert.equal(Date.parse((await harness.topic("Landforms")).deadline) - Date.parse(before), 300_000);
  await note(board, "New end").getByRole("button", { name: "Undo" }).click();
  await until(async () => (await harness.topic("Landforms")).deadline === before, "the former end is back");
});

scenario("projector shows topic, remaining time and groups but nothing about their work", async (harness) => {
  const board = await boardOf(harness);
  await press(board, "b");
  await board.waitForURL(/projector/);
  // The board has a timer, too, and stays until the code of the projector has loaded.
  await board.getByRole("link", { name: "Back to the board" }).waitFor();
  await board.getByRole("timer").waitFor();
  const volcanoes = board.getByRole("listitem").filter({ hasText: "Volcanoes" });
  await volcanoes.getByText(/Cleo/).waitFor();
  const words = await board.locator("body").innerText();
  assert.match(words, /Landforms/);
  for (const secret of ["Which of our two sources", "submitted", "Quiet"])
    assert.doesNotMatch(words, new RegExp(secret), secret);
  await board.getByRole("button", { name: "Hide the groups" }).click();
  await eventually(async () => assert.doesNotMatch(await board.locator("body").innerText(), /Volcanoes|Cleo/));
  await board.getByRole("button", { name: "Show the groups" }).click();
  await volcanoes.waitFor();

  // On paper there are the groups only.
  await board.emulateMedia({ media: "print" });
  const paper = await board.locator("body").innerText();
  assert.match(paper, /Landforms[^]*Volcanoes[^]*Cleo/);
  assert.doesNotMatch(paper, /Back to the board/);
  await board.emulateMedia({ media: "screen" });
  await press(board, "Escape");
  await board.locator("[data-card]").first().waitFor();
});

scenario("unlinked draft stays open when linked to another topic before finishing", async (harness) => {
  const ada = await harness.api("ada");
  const topic = await ada.get(`/assignments/${(await harness.topic("Landforms")).id}`);
  const { id: groupId, workRoomId } = await harness.group("Rivers");
  const more = {
    title: "Weather",
    classId: topic.classId,
    courseId: topic.courseId,
    deadline: "2099-01-10T10:00:00Z",
    groupIds: [groupId],
  };
  const other = await ada.post("/assignments", more);
  const draft = (title, assignmentId) =>
    ada.post(`/workrooms/${workRoomId}/documents`, {
      title,
      documentType: "word",
      ...(assignmentId ? { assignmentId } : {}),
    });
  const kept = await draft("Kept");
  const locked = await draft("Locked");
  await draft("Tables", other.id);
  const board = await boardOf(harness);
  await board.getByRole("button", { name: /^Finish/ }).click();
  const dialog = board.getByRole("alertdialog");
  await dialog.getByText(/Tables · 1 Rivers, for “Weather”/).waitFor();
  await dialog.getByRole("button", { name: /Kept · 1 Rivers/ }).click();
  await board.getByRole("option", { name: "Weather: stays open" }).click();
  await dialog.getByText(/Kept · 1 Rivers, for “Weather”/).waitFor();
  await dialog.getByRole("button", { name: "Finish the topic" }).click();
  await board.getByRole("button", { name: "Reopen" }).waitFor();
  const stateOf = async (document) => {
    const { status, assignmentId } = await ada.get(`/workrooms/documents/${document.id}`);
    return [status, assignmentId];
  };
  await eventually(async () => assert.deepEqual(await stateOf(locked), ["LOCKED", null]));
  assert.deepEqual(await stateOf(kept), ["DRAFT", other.id]);
  await board.getByRole("button", { name: "Reopen" }).click();
  await board.getByRole("button", { name: /^Finish/ }).waitFor();
  await eventually(async () => assert.equal((await stateOf(locked))[0], "DRAFT"));
});
