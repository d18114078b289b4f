// Who wrote what in a document of the built-in editor, and how it was written, as a teacher sees it.
import assert from "node:assert/strict";

import {
  assertAccessible,
  assertNoOverflow,
  assertTargetSize,
  eventually,
  scenario,
  selectionMoved,
  useDemo,
} from "./harness.mjs";

useDemo({ editor: "builtin" });

const TEXT = '.document[contenteditable="true"]';

/** Ana and Ben write a document and submit it, once for this file. Returns the address of their work. */
let written;
async function writeTogether(harness) {
  const [group, topic, api] = await Promise.all([
    harness.group("Rivers", "ana"),
    harness.topic("Landforms"),
    harness.api("ana"),
  ]);
  const created = await api.post(`/workrooms/${group.workRoomId}/documents`, { title: "Shared", documentType: "word" });
  const path = `/groups/${group.id}/documents/${created.id}`;
  const ana = await harness.page("ana", { path });
  await ana.locator(TEXT).click();
  await ana.keyboard.type("The river flows to the sea.");
  const ben = await harness.page("ben", { path });
  await ben.locator(TEXT).filter({ hasText: "to the sea." }).click();
  await ben.keyboard.press("Control+End");
  await selectionMoved(ben);
  await ben.keyboard.press("Enter");
  await ben.keyboard.type("The sea is salty.");
  await ana.locator(TEXT).filter({ hasText: "salty." }).waitFor();
  await api.post(`/workrooms/documents/${created.id}/submit`, { assignmentId: topic.id });
  return `/topics/${topic.id}/work/${group.id}`;
}

scenario("teacher sees who wrote what in a submission", async (harness) => {
  const work = await (written ??= writeTogether(harness));
  const ada = await harness.page("ada", { path: work });
  await ada.getByRole("tab", { name: "Shared.docx" }).click();
  await ada.getByRole("button", { name: "Who wrote what in Shared.docx" }).click();
  const dialog = ada.getByRole("dialog", { name: "Who wrote what: Shared.docx" });
  const legend = dialog.getByRole("group", { name: "Authors" });
  await legend.getByText("61 %").waitFor();
  await eventually(async () =>
    assert.deepEqual(
      (await legend.getByRole("listitem").allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim()),
      ["Ana Lima 61 % · 27 characters", "Ben Okoye 39 % · 17 characters"],
    ),
  );
  const marksAre = (texts) =>
    eventually(async () => assert.deepEqual(await dialog.locator(".authored").allInnerTexts(), texts));
  await marksAre(["The river flows to the sea.", "The sea is salty."]);
  await assertAccessible(ada);
  await legend.getByRole("checkbox", { name: /Ben Okoye/ }).press("Space");
  await marksAre(["The river flows to the sea."]);
  await ada.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await ada.getByText("Contributions", { exact: true }).click();
  await ada
    .getByText(/27 characters of the text \(61 %\)/)
    .first()
    .waitFor();
  assert.equal(await ada.getByRole("button", { name: /^How .* was written$/ }).count(), 0, "it is switched off");
  const phone = await harness.page("ada", { path: work, width: 360, height: 740, language: "de" });
  await phone.getByRole("tab", { name: "Shared.docx" }).click();
  await phone.getByRole("button", { name: "Wer hat in Shared.docx was geschrieben" }).click();
  await phone.getByRole("group", { name: "Schreibende" }).getByText("61 %").waitFor();
  await assertNoOverflow(phone);
  await assertTargetSize(phone);
  await assertAccessible(phone);
  await harness.screenshots("who-wrote-what");
});

scenario("teacher plays back how a document was written, once the school has enabled it", async (harness) => {
  const admin = await harness.page("admin", { path: "/admin/organisation" });
  await admin.getByText("Teachers may watch how a document of their class was written").click();
  await admin.getByRole("button", { name: "Save" }).first().click();
  await admin.getByText("Saved").first().waitFor();
  const work = await (written ??= writeTogether(harness));
  const ada = await harness.page("ada", { path: work });
  await ada.getByRole("tab", { name: "Shared.docx" }).click();
  await ada.getByRole("button", { name: "How Shared.docx was written" }).click();
  const dialog = ada.getByRole("dialog", { name: "How it was written: Shared.docx" });
  const state = dialog.getByTestId("playback-state");
  await state.getByText(/^Beginning, /).waitFor();
  const text = dialog.locator(".document");
  await eventually(async () => assert.equal((await text.innerText()).trim(), ""));
  await assertAccessible(ada);
  const slider = dialog.getByRole("slider", { name: "Time" });
  await slider.press("ArrowRight");
  await state.getByText(/^Ana Lima, /).waitFor();
  await slider.press("End");
  await state.getByText(/^Ben Okoye, /).waitFor();
  await eventually(async () =>
    assert.match(await text.innerText(), /The river flows to the sea\.\s+The sea is salty\./),
  );
  await slider.press("Home");
  await state.getByText(/^Beginning, /).waitFor();
  // The frames, of a second each, do not change before the playback is paused.
  await ada.evaluate(() => {
    window.start = window.setTimeout;
    window.setTimeout = (callback, delay, ...rest) =>
      window.start(callback, delay === 1_000 ? 600_000 : delay, ...rest);
  });
  await dialog.getByRole("button", { name: "Play" }).click();
  await dialog.getByRole("button", { name: "Pause" }).click();
  await dialog.getByRole("button", { name: "Play" }).waitFor();
  await state.getByText(/^Beginning, /).waitFor();
  await ada.evaluate(() => (window.setTimeout = window.start));
  await dialog.getByRole("button", { name: "Play" }).click();
  await eventually(async () => assert.match(await text.innerText(), /The sea is salty\./));
  await dialog.getByRole("button", { name: "Play" }).waitFor();
  await eventually(async () => {
    const logs = await (await harness.api("admin")).get("/activity-logs?limit=50");
    assert.ok(logs.data.some((one) => one.event === "DOCUMENT_PLAYBACK"));
  });
  const phone = await harness.page("ada", { path: work, width: 360, height: 740, language: "de", dark: true });
  await phone.getByRole("tab", { name: "Shared.docx" }).click();
  await phone.getByRole("button", { name: "Wie Shared.docx entstand" }).click();
  await phone
    .getByTestId("playback-state")
    .getByText(/^Beginn, /)
    .waitFor();
  await assertNoOverflow(phone);
  await assertTargetSize(phone);
  await assertAccessible(phone);
  await harness.screenshots("playback");
});
