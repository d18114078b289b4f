// The work room as its students use it: chat, documents, submissions and feedback.
import assert from "node:assert/strict";

import {
  assertAccessible,
  assertNoOverflow,
  eventually,
  moveFocus,
  pressItem,
  ready,
  rendered,
  scenario,
} from "./harness.mjs";

const rivers = (harness) => harness.group("Rivers", "ana");
const newDocument = async (harness, group, title) =>
  (await harness.api("ana")).post(`/workrooms/${group.workRoomId}/documents`, { title, documentType: "word" });

scenario("unread message count appears in the title and is cleared by reading", async (harness) => {
  const group = await rivers(harness);
  const path = `/groups/${group.id}`;
  const ben = await harness.page("ben", { path, width: 800 });
  const { unreadCount } = await (await harness.api("ben")).get(`/workrooms/${group.workRoomId}`);
  const api = await harness.api("ana");
  await api.post(`/workrooms/${group.workRoomId}/messages`, { content: "Who has the map?" });
  await api.post(`/workrooms/${group.workRoomId}/messages`, { content: "**Not bold** <b>either</b>" });
  await ben.waitForFunction((count) => document.title.startsWith(`(${count})`), unreadCount + 2);
  await ben.getByRole("link", { name: /^Chat/ }).click();
  await ben.getByText("**Not bold** <b>either</b>").waitFor();
  await ben.waitForFunction(() => !document.title.startsWith("("));

  // Ana edits one message and deletes another; Ben's page updates without a reload.
  const ana = await harness.page("ana", { path });
  await ana.getByText("Who has the map?").waitFor();
  const lines = ana.getByRole("article");
  const first = lines.nth((await lines.allInnerTexts()).findIndex((text) => text.includes("Who has the map?")));
  await first.getByRole("button").click();
  await ana.getByRole("menuitem", { name: "Change" }).click();
  await first.getByRole("textbox").fill("Who has the big map?");
  await first.getByRole("button", { name: "Save" }).click();
  await ben.getByText("Who has the big map?").waitFor();
  await ana.getByRole("article").filter({ hasText: "Not bold" }).getByRole("button").click();
  await ana.getByRole("menuitem", { name: "Delete" }).click();
  await ana.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await ben.getByText("This message was deleted.").waitFor();
});

scenario("spreadsheet is created, renamed and deleted by keyboard, with collapsed columns", async (harness) => {
  const group = await rivers(harness);
  const ana = await harness.page("ana", { path: `/groups/${group.id}` });
  await ana.getByRole("button", { name: "New", exact: true }).focus();
  await ana.keyboard.press("Enter");
  const isOn = (words) => ana.waitForFunction((text) => document.activeElement?.textContent === text, words);
  await isOn("Document");
  await ana.keyboard.press("ArrowDown");
  await isOn("Spreadsheet");
  await ana.keyboard.press("Enter");
  await ana.getByRole("dialog").getByRole("textbox").waitFor();
  await ana.keyboard.type("Sources");
  await ana.keyboard.press("Enter");
  await ana.getByRole("heading", { name: "Sources.xlsx" }).waitFor();
  await ana.waitForFunction(() => document.activeElement?.tagName === "H1");
  await rendered(ana);

  const documents = ana.getByRole("region", { name: "Documents" });
  await ana.keyboard.press("[");
  await documents.waitFor();
  await ana.keyboard.press("[");
  await documents.waitFor({ state: "detached" });
  await ana.keyboard.press("[");
  await documents.waitFor();
  // F6 cycles through the regions of the screen.
  const parts = await ana.locator("[data-part]").count();
  const seen = new Set();
  for (let turn = 0; turn < parts; turn += 1) {
    await moveFocus(ana, "F6");
    seen.add(await ana.evaluate(() => [...document.querySelectorAll("[data-part]")].indexOf(document.activeElement)));
  }
  assert.equal(seen.size, parts, "F6 reaches every region");

  const line = documents.getByRole("listitem").filter({ hasText: "Sources.xlsx" });
  await line.getByRole("button").focus();
  await ana.keyboard.press("Enter");
  await pressItem(ana, ana.getByRole("menuitem", { name: "Rename" }));
  await ana.getByRole("dialog").getByRole("textbox").fill("Our sources");
  await ana.keyboard.press("Enter");
  await ana.getByRole("heading", { name: "Our sources.xlsx" }).waitFor();

  await documents.getByRole("listitem").filter({ hasText: "Our sources.xlsx" }).getByRole("button").click();
  await ana.getByRole("menuitem", { name: "Delete" }).click();
  await ana.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await documents.getByRole("listitem").filter({ hasText: "Our sources.xlsx" }).waitFor({ state: "detached" });
});

scenario("invalid file shows an error, valid file becomes a document", async (harness) => {
  const group = await rivers(harness);
  const ana = await harness.page("ana", { path: `/groups/${group.id}`, allow: [/status of 415/] });
  const bring = async (name, mimeType, text) => {
    const asked = ana.waitForEvent("filechooser");
    await ana.getByRole("button", { name: "Upload", exact: true }).click();
    await (await asked).setFiles({ name, mimeType, buffer: Buffer.from(text) });
  };
  await bring("virus.exe", "application/octet-stream", "MZ");
  await ana.getByRole("alert").filter({ hasText: "not accepted" }).waitFor();
  await ana.getByRole("button", { name: "Stop uploading virus.exe" }).click();
  await bring("Notes of the river.txt", "text/plain", "The Rhine begins in the Alps.");
  await ana.getByRole("link", { name: /Notes of the river.txt/ }).waitFor();
  await bring("Report of the river.rtf", "application/rtf", "{\\rtf1\\ansi The Rhine ends in the sea.\\par }");
  await ana.getByRole("link", { name: /Report of the river.docx/ }).waitFor();
  // Files of the chat are not converted.
  await ana
    .locator("input[type=file]")
    .last()
    .setInputFiles({ name: "talk.rtf", mimeType: "application/rtf", buffer: Buffer.from("{\\rtf1 x}") });
  await ana.getByRole("alert").filter({ hasText: ".rtf files are not accepted here" }).waitFor();
  await eventually(async () => assert.equal(await ana.getByText("virus.exe").count(), 0));
});

scenario("second submitter sees who was first, and taking back can be undone", async (harness) => {
  const group = await rivers(harness);
  const topic = await harness.topic("Landforms");
  const api = await harness.api("ana");
  const { documents } = await api.get(`/workrooms/${group.workRoomId}`);
  const report = documents.find((one) => one.status === "DRAFT" && one.documentType === "word");
  const ben = await harness.page("ben", {
    path: `/groups/${group.id}/documents/${report.id}`,
    allow: [/status of 409/],
  });
  await ben.getByRole("button", { name: /^Submit/ }).click();
  const dialog = ben.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: `${report.title}.docx`, checked: true }).waitFor();
  await dialog.getByText(topic.title).first().waitFor();
  await dialog.getByRole("button", { name: "Submit for the group" }).waitFor();
  // Ben's page must not be notified before the press, so that the error response carries the message.
  await ben.route("**/submit", async (route) => {
    await api.post(`/workrooms/documents/${report.id}/submit`, { assignmentId: topic.id });
    await route.continue();
  });
  await dialog.getByRole("button", { name: "Submit for the group" }).click();
  await ben.getByText("Ana Lima submitted a moment before you.").waitFor();
  await ben.unroute("**/submit");
  await ben
    .getByText(/Submitted .* by Ana Lima/)
    .first()
    .waitFor();

  await ben.getByRole("button", { name: "Take back" }).click();
  await ben.getByText("Taken back. Your group can edit again.").waitFor();
  await ben.getByRole("button", { name: "Undo" }).click();
  await ben
    .getByText(/Submitted .* by Ben Okoye/)
    .first()
    .waitFor();
});

scenario("grade is hidden until published, then visible on the card and in the room", async (harness) => {
  const group = await rivers(harness);
  const ada = await harness.api("ada");
  const submissionId = async () => (await ada.get(`/groups/${group.id}`)).groupAssignments[0].currentSubmissionId;
  if ((await submissionId()) === null) {
    const document = await newDocument(harness, group, "Handed in");
    const topic = await harness.topic("Landforms");
    await (await harness.api("ana")).post(`/workrooms/documents/${document.id}/submit`, { assignmentId: topic.id });
  }
  const submission = await submissionId();
  const teacher = await harness.page("ada", { path: "/today" });
  const put = (publish) =>
    teacher.evaluate(
      async ([id, isOut]) =>
        (
          await fetch(`/api/feedback/submissions/${id}/grade`, {
            method: "PUT",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ value: "B+", feedback: "Clear and well drawn.", publish: isOut }),
          })
        ).status,
      [submission, publish],
    );
  assert.equal(await put(false), 200);
  const ana = await harness.page("ana", { path: `/groups/${group.id}?place=feedback` });
  await ana.getByText("No feedback yet.").waitFor();
  assert.equal(await ana.getByText("B+").count(), 0);
  const ben = await harness.page("ben", { path: "/groups" });
  assert.equal(await put(true), 200);
  await ana.getByText("B+").first().waitFor();
  await ana.getByText("Clear and well drawn.").waitFor();
  const card = ben.getByRole("listitem").filter({ hasText: "Landforms" });
  await card.getByText("New feedback").waitFor();
  await ben.getByRole("link", { name: /Landforms/ }).click();
  await ben.getByRole("link", { name: /Feedback New/ }).click();
  await ben.getByText("B+").first().waitFor();
  await assertAccessible(ben);
  // Feedback that was viewed in this browser is no longer marked as new.
  await ben.goto("/groups");
  await ready(ben);
  await card.waitFor();
  await eventually(async () => assert.equal(await card.getByText("New feedback").count(), 0));
});

scenario("phone opens a document read-only, and a failed editor offers the saved version", async (harness) => {
  const group = await harness.group("Rivers", "ben");
  const notes = await newDocument(harness, group, "Notes");
  const phone = await harness.page("ben", {
    path: `/groups/${group.id}/documents/${notes.id}`,
    width: 360,
    height: 740,
  });
  await phone.locator("iframe").waitFor();
  await phone.getByRole("button", { name: "Write" }).waitFor();
  await assertNoOverflow(phone);
  // The mobile editor cannot write; the page loads the full editor instead.
  await phone.getByRole("button", { name: "Write" }).click();
  const text = phone.frameLocator("iframe").locator("textarea:not([readonly])");
  await text.fill("Written on a phone");
  await phone
    .getByRole("status")
    .filter({ hasText: /^Saved$/ })
    .waitFor();
  assert.equal(await phone.getByRole("alert").count(), 0);
  await assertNoOverflow(phone);

  const cut = await harness.page("ben", { allow: [/ERR_FAILED/] });
  await cut.route("**/web-apps/**", (route) => route.abort());
  await cut.goto(`/groups/${group.id}/documents/${notes.id}`);
  await cut.getByText("The editor could not be loaded.").waitFor();
  const coming = cut.waitForEvent("download");
  await cut.getByRole("button", { name: "Download the last saved version" }).click();
  assert.match((await coming).suggestedFilename(), /\./);
  await cut.unroute("**/web-apps/**");
  await cut.getByRole("button", { name: "Try again" }).click();
  await cut.locator("iframe").waitFor();
});

scenario(
  "editor that loses the document server shows an error and keeps text unsent until reopened",
  async (harness) => {
    const group = await harness.group("Rivers", "ben");
    const notes = await newDocument(harness, group, "More notes");
    const page = await harness.page("ben", { allow: [/ERR_FAILED/] });
    await page.route("**/practice/events*", (route) => route.abort());
    await page.goto(`/groups/${group.id}/documents/${notes.id}`);
    const alert = page.getByRole("alert").filter({ hasText: "The editor has stopped." });
    await alert.waitFor();
    assert.equal(await page.getByText("Saved", { exact: true }).count(), 0);
    await page.unroute("**/practice/events*");
    await alert.getByRole("button", { name: "Reopen" }).click();
    await page.frameLocator("iframe").locator("textarea:not([readonly])").waitFor();
    await page.getByText("Saved", { exact: true }).waitFor();
    await alert.waitFor({ state: "detached" });
  },
);

scenario("student sends a message and the teacher replies", async (harness) => {
  const ana = await harness.page("ana", { path: "/messages" });
  await ana.getByRole("button", { name: "New message" }).click();
  const dialog = ana.getByRole("dialog");
  await dialog.getByText("Ada Turner").click();
  await dialog.getByLabel("Subject (optional)").fill("The map");
  await dialog.getByLabel("Message").fill("May I bring it tomorrow?");
  await rendered(ana);
  await ana.reload();
  // Text that was not sent is still there.
  await ana.getByRole("button", { name: "New message" }).click();
  await eventually(async () =>
    assert.equal(await dialog.getByLabel("Message").inputValue(), "May I bring it tomorrow?"),
  );
  await dialog.getByText("Ada Turner").click();
  await dialog.getByLabel("Subject (optional)").fill("The map");
  await dialog.getByRole("button", { name: "Send" }).click();
  await ana.getByText("Sent.").waitFor();

  const ada = await harness.page("ada", { path: "/messages" });
  await ada.getByRole("button", { name: /New.*Ana Lima.*The map/s }).click();
  await ada.getByText("May I bring it tomorrow?").waitFor();
  await ada.getByRole("button", { name: "Reply" }).click();
  await ada.getByRole("dialog").getByLabel("Message").fill("Yes.");
  await ada.getByRole("dialog").getByRole("button", { name: "Send" }).click();
  await ana.getByRole("button", { name: /New.*Ada Turner.*Re: The map/s }).waitFor();
});

scenario(
  "document is submitted to its linked topic, and selecting another topic changes documents or warns",
  async (harness) => {
    const [group, { classId, courseId }, ada, api] = await Promise.all([
      rivers(harness),
      harness.topic("Landforms"),
      harness.api("ada"),
      harness.api("ana"),
    ]);
    const topicIn = (title, hours) =>
      ada.post("/assignments", {
        title,
        deadline: new Date(Date.now() + hours * 3_600_000).toISOString(),
        classId,
        courseId,
        groupIds: [group.id],
      });
    const sketch = await topicIn("Sketch", 1);
    const map = await topicIn("Map", 2);
    const own = await api.post(`/workrooms/${group.workRoomId}/documents`, {
      title: "Valleys",
      documentType: "word",
      assignmentId: map.id,
    });
    const ben = await harness.page("ben", { path: `/groups/${group.id}/documents/${own.id}` });
    await ben.getByRole("button", { name: /^Submit/ }).click();
    const dialog = ben.getByRole("dialog");
    await dialog.getByRole("radio", { name: /^Map/, checked: true }).waitFor();
    await dialog.getByRole("checkbox", { name: "Valleys.docx", checked: true }).waitFor();
    await dialog.getByRole("radio", { name: /^Sketch/ }).click({ force: true });
    await dialog.getByRole("checkbox", { name: "Valleys.docx", checked: false }).waitFor();
    await dialog.getByRole("checkbox", { name: "Valleys.docx" }).click({ force: true });
    await dialog.getByText("“Valleys.docx” belongs to the topic “Map” now.").waitFor();
    await assertAccessible(ben);
    await dialog.getByRole("radio", { name: /^Map/ }).click({ force: true });
    await dialog.getByRole("checkbox", { name: "Valleys.docx", checked: true }).waitFor();
    await dialog.getByRole("button", { name: "Submit for the group" }).click();
    await ben.getByText("Submitted for your group.").waitFor();
    const { assignmentId } = await api.get(`/workrooms/documents/${own.id}`);
    assert.equal(assignmentId, map.id);
    for (const topic of [sketch, map]) await ada.delete(`/assignments/${topic.id}`);
  },
);
