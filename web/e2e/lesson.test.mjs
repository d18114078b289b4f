// One lesson with three browsers at once: a teacher and two students of one group, from the sign-in form to the finished
// topic. No user reloads a page.
import assert from "node:assert/strict";

import { ready, scenario, signIn, until } from "./harness.mjs";

/** The text field of the simulated editor on a page. */
const editor = (page) => page.frameLocator("iframe[name=frameEditor]").locator("#text");

async function arrive(harness, who) {
  const page = await harness.page("nobody", { path: "/" });
  await signIn(page, who);
  await page.getByRole("navigation").first().waitFor();
  await ready(page);
  return page;
}

scenario("editor opens after leaving before it has loaded", async (harness) => {
  const rivers = await harness.group("Rivers", "ana");
  const ana = await harness.page("ana");
  const held = [];
  await ana.route("**/documents/api.js*", (route) => held.push(route));
  await ana.goto("/groups");
  await ana.locator(`a[href="/groups/${rivers.id}"]`).first().click();
  await ana.locator(`a[href^="/groups/${rivers.id}/documents/"]`).first().click();
  await until(() => held.length > 0, "the script of the document server is asked for");
  await ana.goBack();
  await ana.goBack();
  await ana.waitForURL("**/groups");
  await ready(ana);
  for (const route of held) await route.continue();
  await ana.unroute("**/documents/api.js*");
  await ana.waitForFunction(() => "DocsAPI" in window);
  await ana.goForward();
  await ana.goForward();
  await until(() => editor(ana).isEditable(), "the editor is there");
});

scenario("text typed just before another member submits is included", async (harness) => {
  const topic = await harness.topic("Landforms");
  const rivers = await harness.group("Rivers", "ana");
  // The editor sends every two seconds and loses unsent text when its iframe is removed, like real editors.
  const [server] = [...harness.demo.documentServers].slice(-1);
  const faults = (body) =>
    fetch(`${server}/practice/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await faults({ autosaveGap: 2000 });
  const ben = await harness.api("ben");
  const ana = await harness.page("ana", { path: `/groups/${rivers.id}` });
  await ana.locator(`a[href^="/groups/${rivers.id}/documents/"]`).first().click();
  await until(() => editor(ana).isEditable(), "the editor can be written in");
  await faults({ autosaveGap: null });
  const document = /\/documents\/([^/?]+)/.exec(ana.url())[1];
  // Submits immediately, so that no text is sent before the submission begins.
  await editor(ana).fill(`${await editor(ana).inputValue()}\nThe very last words.`);
  const submitted = await ben.post(`/workrooms/documents/${document}/submit`, { assignmentId: topic.id });
  assert.equal(submitted.unsaved, false);
  await until(async () => (await editor(ana).count()) > 0 && !(await editor(ana).isEditable()), "Ana can only read");
  const versions = await (await harness.api("ada")).get(`/workrooms/documents/${document}/versions`);
  assert.deepEqual(
    versions.map((version) => version.origin).filter((origin) => origin === "LATE_AFTER_LOCK"),
    [],
    "nothing was late",
  );
  await until(
    async () => (await editor(ana).inputValue()).includes("The very last words."),
    "the last words are in what was submitted",
  );
  await ben.post(`/workrooms/documents/${document}/unsubmit`);
});

scenario("lesson with three browsers from sign-in to finished topic", async (harness, t) => {
  const topic = await harness.topic("Landforms");
  const rivers = await harness.group("Rivers");
  const [ada, ana, ben] = await Promise.all(["ada", "ana", "ben"].map((who) => arrive(harness, who)));

  // The teacher opens the board; the students open their document.
  await ada.locator(`a[href="/topics/${topic.id}/board"]`).first().click();
  const card = ada.locator(`[data-card="${rivers.id}"]`);
  await card.waitFor();
  for (const student of [ana, ben]) {
    await student.locator(`a[href="/groups/${rivers.id}"]`).first().click();
    await student.locator(`a[href^="/groups/${rivers.id}/documents/"]`).first().click();
    await until(() => editor(student).isEditable(), "the editor can be written in");
  }

  // Both students type and see each other's text; the board shows who is typing, for some seconds.
  const writing = card.getByText(/writing/).waitFor();
  await editor(ana).press("Control+End");
  await editor(ana).pressSequentially("\nThe spring is where it begins.");
  await until(
    async () => (await editor(ben).inputValue()).includes("The spring is where it begins."),
    "Ben reads what Ana wrote",
  );
  await editor(ben).press("Control+End");
  await editor(ben).pressSequentially("\nThe mouth is where it ends.");
  await until(
    async () => (await editor(ana).inputValue()).includes("The mouth is where it ends."),
    "Ana reads what Ben wrote",
  );
  await writing;

  // A help request appears on the board by event, since no page polls within that time. Once handled, it disappears from both
  // pages.
  const room = await harness.page("ana", { path: `/groups/${rivers.id}` });
  const rail = ada.locator("aside");
  const words = "May we use the atlas?";
  await room.getByRole("button", { name: "Ask for help" }).first().click();
  const dialog = room.getByRole("dialog");
  await dialog.getByRole("textbox").first().fill(words);
  const shown = rail.getByText(words).waitFor();
  const asked = Date.now();
  await dialog.getByRole("button", { name: "Ask for help" }).click();
  await shown;
  t.diagnostic(`a call for help was on the board after ${Date.now() - asked} ms`);
  await room
    .getByText(/Your teacher knows/)
    .first()
    .waitFor();
  const place = rail.getByRole("listitem").filter({ hasText: words });
  await place.getByRole("button", { name: "Handled" }).click();
  await rail.getByText(words).waitFor({ state: "detached" });
  // The update is sent when the toast with "Undo" closes.
  await ada.getByRole("alertdialog").filter({ hasText: "handled" }).getByRole("button", { name: "Close" }).click();
  await room.getByRole("button", { name: "Ask for help" }).first().waitFor();

  // Ben submits: both editors become read-only at that moment, and the board shows the submission.
  await ben
    .getByRole("button", { name: /^Submit/ })
    .first()
    .click();
  await ben
    .getByRole("dialog")
    .getByRole("button", { name: /Submit for the group/ })
    .click();
  for (const [name, student] of [
    ["Ben", ben],
    ["Ana", ana],
  ]) {
    await until(
      async () => (await editor(student).count()) > 0 && !(await editor(student).isEditable()),
      `${name} can only read`,
    );
    // On a busy machine the last text arrives shortly after the submission; a page that was opened before shows it after a
    // reload.
    await until(async () => {
      if ((await editor(student).inputValue()).includes("The mouth is where it ends.")) return true;
      await student.reload();
      await until(async () => (await editor(student).inputValue()) !== "", "the editor has loaded");
      return (await editor(student).inputValue()).includes("The mouth is where it ends.");
    }, `${name} reads everything`);
  }
  await card.getByText(/Submitted/).waitFor();

  // After taking the submission back, the document is editable again.
  await ana.getByRole("button", { name: "Take back" }).click();
  await until(() => editor(ben).isEditable(), "Ben can write again");
  await ben
    .getByRole("button", { name: /^Submit/ })
    .first()
    .click();
  await ben
    .getByRole("dialog")
    .getByRole("button", { name: /Submit for the group/ })
    .click();
  await card.getByText(/Submitted/).waitFor();

  // The topic is finished: everything is locked, for all users.
  await ada.getByRole("button", { name: /^Finish/ }).click();
  await ada.getByRole("alertdialog").getByRole("button", { name: "Finish the topic" }).click();
  await ada.getByRole("button", { name: "Reopen" }).waitFor();
  for (const student of [ana, ben]) {
    await student
      .getByText(/Finished/)
      .first()
      .waitFor();
    await student.getByRole("button", { name: "Take back" }).waitFor({ state: "detached" });
    await until(
      async () => (await editor(student).count()) > 0 && !(await editor(student).isEditable()),
      "a locked document can only be read",
    );
  }
});
