// A whole lesson in one page of the teacher without a reload, so data that one dialog leaves in the query cache is still
// there when the next one uses it. Any page error fails the scenario.
import assert from "node:assert/strict";

import { moveFocus, scenario, until } from "./harness.mjs";

const note = (page, text) => page.getByRole("alertdialog").filter({ hasText: text });
const editor = (page) => page.frameLocator("iframe[name=frameEditor]").locator("#text");

scenario("teacher runs a whole lesson in one page", async (harness) => {
  const topic = await harness.topic("Landforms");
  const rivers = await harness.group("Rivers");
  const api = await harness.api("ada");
  const group = (id) => api.get(`/groups/${id}`);
  const ada = await harness.page("ada", { path: "/today" });
  await ada.evaluate(() => (window.isSame = true));
  await ada.locator(`a[href="/topics/${topic.id}/board"]`).first().click();
  const card = (name) => ada.locator("article").filter({ hasText: name });
  await card("Rivers").waitFor();

  // Extends the deadline first: the data fetched by this dialog stays in the cache for the rest of the lesson.
  const before = (await api.get(`/assignments/${topic.id}`)).deadline;
  await ada.getByRole("button", { name: "+5 min" }).click();
  await ada
    .getByRole("dialog")
    .getByText(/^.*For all \d+ groups\.$/)
    .waitFor();
  await ada.getByRole("button", { name: "Give 5 more minutes" }).click();
  await note(ada, "New end").getByRole("button", { name: "Close" }).click();
  await until(async () => (await api.get(`/assignments/${topic.id}`)).deadline > before, "the end is later");

  // A help request is shown and handled, and the service stores it.
  const ana = await harness.page("ana", { path: `/groups/${rivers.id}` });
  await ana.getByRole("button", { name: "Ask for help" }).first().click();
  await ana.getByRole("dialog").getByRole("textbox").fill("May we use the atlas?");
  await ana.getByRole("dialog").getByRole("button", { name: "Ask for help" }).click();
  const call = ada.locator("aside ol > li").filter({ hasText: "May we use the atlas?" });
  await call.getByRole("button", { name: /^Handled/ }).click();
  await call.waitFor({ state: "detached" });
  await note(ada, "handled").getByRole("button", { name: "Close" }).click();
  await until(async () => !(await group(rivers.id)).needsHelp, "the service knows that the call is handled");
  await ana.getByRole("button", { name: "Ask for help" }).first().waitFor();

  // A student types: each activity event updates the board.
  await ana.locator(`a[href^="/groups/${rivers.id}/documents/"]`).first().click();
  await until(() => editor(ana).isEditable(), "the editor can be written in");
  const writing = card("Rivers")
    .getByText(/writing/)
    .waitFor();
  await editor(ana).press("Control+End");
  await editor(ana).pressSequentially("\nA river carries sand.");
  await writing;

  // Moves a student to another group, then undoes it from the toast.
  await card("Rivers").getByRole("button").click();
  await ada.getByRole("menuitem", { name: /Move Ben Okoye/ }).click();
  await ada
    .getByRole("dialog")
    .getByRole("button", { name: /4 Deserts/ })
    .click();
  await card("Deserts").getByText("Ben Okoye").waitFor();
  await note(ada, "Ben Okoye is in 4 Deserts").getByRole("button", { name: "Undo" }).click();
  await card("Rivers").getByText("Ben Okoye").waitFor();

  // Sends a message to all groups.
  await ada.getByRole("button", { name: "Message all" }).click();
  await ada.getByRole("dialog").getByRole("textbox").fill("Five more minutes.");
  await ada.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).click();
  await ada.getByRole("dialog").waitFor({ state: "detached" });
  await until(
    async () =>
      JSON.stringify(await api.get(`/workrooms/${rivers.workRoomId}/messages`)).includes("Five more minutes."),
    "the message is in the chat",
  );

  // The group submits. The teacher opens the work, grades it, publishes the grade, and goes back to the board.
  await ana
    .getByRole("button", { name: /^Submit/ })
    .first()
    .click();
  await ana
    .getByRole("dialog")
    .getByRole("button", { name: /Submit for the group/ })
    .click();
  await card("Rivers")
    .getByText(/Submitted/)
    .waitFor();
  await ada.locator(`[data-card="${rivers.id}"] a`).first().click();
  await ada.getByRole("textbox", { name: "Grade" }).fill("A");
  await ada.getByRole("textbox", { name: "Feedback", exact: true }).fill("Well told.");
  await ada.getByText(/^Saved .* – not published yet$/).waitFor();
  await ada.getByRole("textbox", { name: "Feedback", exact: true }).focus();
  await ada.keyboard.press("Control+Enter");
  await ada.getByText(/^Published today/).waitFor();
  await moveFocus(ada, "F6");
  await ada.keyboard.press("Escape");
  await ada.waitForURL(/\/board$/);
  await card("Rivers")
    .getByText(/Graded/)
    .waitFor();

  // Finishes the topic; afterwards the dialogs still work with the cached data of the lesson.
  await ada.getByRole("button", { name: /^Finish/ }).click();
  await ada.getByRole("alertdialog").getByRole("button", { name: "Finish the topic" }).click();
  await ada.getByRole("button", { name: "Reopen" }).waitFor();
  await until(async () => (await api.get(`/assignments/${topic.id}`)).status === "FINISHED", "the topic is finished");
  assert.equal(await ada.evaluate(() => window.isSame), true, "nothing was reloaded");
});
