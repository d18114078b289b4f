// Two users edit the same object: the typed text stays, and the page shows the concurrent change.
import assert from "node:assert/strict";

import { assertAccessible, eventually, scenario } from "./harness.mjs";

scenario("concurrent settings change is shown, and typed values are saved by the next click", async (harness) => {
  const admin = await harness.api("admin");
  const before = await admin.get("/admin/settings");
  const page = await harness.page("admin", { path: "/admin/organisation", allow: [/status of 412/] });
  const name = page.getByRole("textbox", { name: "Name" }).first();
  await name.fill("Typed here");
  await admin.patch("/admin/settings", { name: "Changed there", metadata: { gradeScale: "A–F" } });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const alert = page.getByRole("alert").filter({ hasText: "Changed elsewhere in the meantime" });
  await alert.getByText("“Changed there”", { exact: false }).waitFor();
  await alert.getByText("“A–F”", { exact: false }).waitFor();
  await eventually(async () => assert.equal(await name.inputValue(), "Typed here"));
  assert.equal((await admin.get("/admin/settings")).name, "Changed there", "nothing is overwritten");
  await assertAccessible(page);
  await page.screenshot({ path: process.env.SHOTS ? `${process.env.SHOTS}/settings.png` : undefined });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await alert.waitFor({ state: "detached" });
  await eventually(async () => {
    const after = await admin.get("/admin/settings");
    assert.deepEqual([after.name, after.metadata.gradeScale], ["Typed here", "A–F"]);
  });
  await admin.patch("/admin/settings", { name: before.name, metadata: { gradeScale: null } });
});

scenario("concurrent grade of another teacher stays until the conflict is resolved", async (harness) => {
  const [ana, topic, group, ada] = await Promise.all([
    harness.api("ana"),
    harness.topic("Landforms"),
    harness.group("Rivers", "ana"),
    harness.api("ada"),
  ]);
  const { documents, groupAssignments } = await ana.get(`/workrooms/group/${group.id}`);
  const work = groupAssignments.find((one) => one.assignmentId === topic.id);
  if (documents[0].status === "DRAFT")
    await ana.post(`/workrooms/documents/${documents[0].id}/submit`, { assignmentId: topic.id });
  const submission = async () =>
    (await ada.get(`/feedback/group-assignments/${work.id}/submissions`)).toSorted(
      (one, other) => other.attempt - one.attempt,
    )[0];
  const page = await harness.page("ada", { path: `/topics/${topic.id}/work/${group.id}`, allow: [/status of 412/] });
  const words = page.getByRole("textbox", { name: "Feedback", exact: true });
  // The page saves after a delay; the grade of the other teacher is stored before.
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/submissions/*/grade", async (route) => {
    await held;
    await route.continue();
  });
  await words.fill("Mine.");
  const { id } = await submission();
  await ada.put(`/feedback/submissions/${id}/grade`, { feedback: "Theirs.", value: "B" });
  await words.fill("Mine, and longer.");
  release();
  const alert = page.getByRole("alert").filter({ hasText: "Changed elsewhere in the meantime" });
  await alert.getByText("“Theirs.”", { exact: false }).waitFor();
  await eventually(async () => assert.equal(await words.inputValue(), "Mine, and longer."));
  assert.equal((await submission()).grade.feedback, "Theirs.", "nothing is overwritten");
  await assertAccessible(page);
  await page.screenshot({ path: process.env.SHOTS ? `${process.env.SHOTS}/grade.png` : undefined });
  await page.getByRole("button", { name: "Save what I typed" }).click();
  await alert.waitFor({ state: "detached" });
  await eventually(async () => {
    const { grade } = await submission();
    assert.deepEqual([grade.feedback, grade.value], ["Mine, and longer.", "B"]);
  });
});

scenario("concurrent group change is merged with typed values, in German on a phone", async (harness) => {
  const ada = await harness.api("ada");
  const { id: courseId, classId } = (await ada.get("/courses")).find((one) => one.name === "Our earth");
  const group = await ada.post("/groups", { classId, courseId, name: "Dunes" });
  const page = await harness.page("ada", {
    path: `/courses/${courseId}?tab=groups`,
    language: "de",
    width: 390,
    allow: [/status of 412/],
  });
  await page.getByRole("button", { name: `Mehr: ${group.groupNumber} Dunes`, exact: true }).click();
  await page.getByRole("menuitem", { name: "Ändern …" }).click();
  const dialog = page.getByRole("dialog");
  const name = dialog.getByRole("textbox", { name: "Name", exact: true });
  await name.fill("Typed dunes");
  await ada.patch(`/groups/${group.id}`, { name: "Sand dunes", displayName: "The sandy ones" });
  await dialog.getByRole("button", { name: "Speichern", exact: true }).click();
  const alert = dialog.getByRole("alert").filter({ hasText: "Inzwischen anderswo geändert" });
  await alert.getByText("„Sand dunes“", { exact: false }).waitFor();
  await eventually(async () => assert.equal(await name.inputValue(), "Typed dunes"));
  assert.equal((await ada.get(`/groups/${group.id}`)).name, "Sand dunes", "nothing is overwritten");
  await page.screenshot({ path: process.env.SHOTS ? `${process.env.SHOTS}/group.png` : undefined });
  await dialog.getByRole("button", { name: "Speichern", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await eventually(async () => {
    const after = await ada.get(`/groups/${group.id}`);
    assert.deepEqual([after.name, after.displayName], ["Typed dunes", "The sandy ones"]);
  });
});
