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

/** How long a submission waits at most until the open editors have sent their text. */
const FLUSH_MS = 4_000;
const ATTEMPTS = 5;

scenario("text typed just before another member submits is included", async (harness) => {
  const topic = await harness.topic("Landforms");
  const rivers = await harness.group("Rivers", "ana");
  const [server] = [...harness.demo.documentServers].slice(-1);
  const faults = (body) =>
    fetch(`${server}/practice/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  // The editor sends after half a second and loses unsent text when its iframe is removed, like real editors.
  await faults({ autosaveGap: 500 });
  const [ada, ben] = await Promise.all(["ada", "ben"].map((who) => harness.api(who)));
  // On a busy machine her editor may send after it was closed.
  const ana = await harness.page("ana", { path: `/groups/${rivers.id}`, allow: [/status of 403/] });
  let opened = Date.now();
  await ana.locator(`a[href^="/groups/${rivers.id}/documents/"]`).first().click();
  for (let attempt = 1; ; attempt += 1) {
    await until(() => editor(ana).isEditable(), "the editor can be written in");
    await until(async () => {
      const callbacks = await (await fetch(`${server}/practice/callbacks`)).json();
      return callbacks.some(({ at, status, accepted }) => at >= opened && status === 1 && accepted);
    }, "the service knows the editor");
    const document = `/workrooms/documents/${/\/documents\/([^/?]+)/.exec(ana.url())[1]}`;
    const lateVersions = async () =>
      (await ada.get(`${document}/versions`)).filter(({ origin }) => origin === "LATE_AFTER_LOCK").length;
    const lateBefore = await lateVersions();
    const words = `The very last words, attempt ${attempt}.`;
    // Submits immediately, so that no text is sent before the submission begins.
    await editor(ana).fill(`${await editor(ana).inputValue()}\n${words}`);
    const began = Date.now();
    const { unsaved } = await ben.post(`${document}/submit`, { assignmentId: topic.id });
    const isQuick = Date.now() - began < FLUSH_MS;
    await until(async () => (await editor(ana).count()) > 0 && !(await editor(ana).isEditable()), "Ana can only read");
    // The editor that was open may still show text that it has not sent.
    await ana.reload();
    await until(async () => (await editor(ana).inputValue()) !== "", "the editor has loaded");
    const isIncluded = (await editor(ana).inputValue()).includes(words);
    const late = (await lateVersions()) - lateBefore;
    opened = Date.now();
    await ben.post(`${document}/unsubmit`);
    if (isIncluded && !unsaved && late === 0) break;
    // On a busy machine the submission may have stopped waiting before the text was sent.
    assert.ok(!isQuick && attempt < ATTEMPTS, `attempt ${attempt}: ${JSON.stringify({ isIncluded, unsaved, late })}`);
  }
  await faults({ autosaveGap: null });
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
