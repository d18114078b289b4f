// Grading: drafts survive interruptions until they are published; then actions on all works of a topic.
import assert from "node:assert/strict";

import { assertAccessible, eventually, moveFocus, rendered, scenario, until } from "./harness.mjs";

const workOf = async (harness, name) =>
  `/topics/${(await harness.topic("Landforms")).id}/work/${(await harness.group(name)).id}`;

/** Submits the document of group Rivers and returns what is needed to take it back. */
async function handIn(harness) {
  const [ana, topic, group] = await Promise.all([
    harness.api("ana"),
    harness.topic("Landforms"),
    harness.group("Rivers", "ana"),
  ]);
  const { documents, groupAssignments } = await ana.get(`/workrooms/group/${group.id}`);
  const [document] = documents;
  const work = groupAssignments.find((one) => one.assignmentId === topic.id);
  const submit = () => ana.post(`/workrooms/documents/${document.id}/submit`, { assignmentId: topic.id });
  if (document.status === "DRAFT") await submit();
  const gradeFor = async (api) =>
    (await api.get(`/feedback/group-assignments/${work.id}/submissions`)).toSorted(
      (one, other) => other.attempt - one.attempt,
    )[0].grade;
  const ada = await harness.api("ada");
  return {
    submit,
    takeBack: () => ana.post(`/workrooms/documents/${document.id}/unsubmit`),
    grade: () => gradeFor(ana),
    draft: () => gradeFor(ada),
    topic,
  };
}

scenario("grade is a draft until published and survives a reload", async (harness) => {
  const rivers = await handIn(harness);
  const ada = await harness.page("ada", { path: await workOf(harness, "Rivers") });
  await ada.getByRole("textbox", { name: "Grade" }).fill("B+");
  await ada.getByRole("textbox", { name: "Feedback", exact: true }).fill("Clear, and well told.");
  await until(async () => (await rivers.draft())?.feedback === "Clear, and well told.", "the draft is stored");
  await ada.getByText(/^Saved .* – not published yet$/).waitFor();
  assert.equal(await rivers.grade(), null, "the group sees no draft");

  await ada.reload();
  await ada.getByText(/^Saved /).waitFor();
  await eventually(async () => assert.equal(await ada.getByRole("textbox", { name: "Grade" }).inputValue(), "B+"));

  await ada.getByRole("textbox", { name: "Feedback", exact: true }).focus();
  await ada.keyboard.press("Control+Enter");
  await ada.getByText(/^Published today/).waitFor();
  await eventually(async () => assert.equal((await rivers.grade())?.value, "B+", "the group sees what was published"));
  await assertAccessible(ada);

  // Edits from now on reach the group only after the grade is published.
  await ada.getByRole("textbox", { name: "Grade" }).fill("C");
  await ada.getByText("Changed, not published yet").waitFor();
  await ada.getByRole("button", { name: "Take the grade back" }).click();
  await ada.getByText(/^Saved .* – not published yet$/).waitFor();
  await eventually(async () => assert.equal(await rivers.grade(), null));

  // Staff can read the former grade.
  await ada.getByText("Previous grades").click();
  await ada.getByText("Published", { exact: true }).first().waitFor();
  if (process.env.GROUPWORK_PICTURES)
    await ada.screenshot({ path: `${process.env.GROUPWORK_PICTURES}/former-grades.png`, fullPage: true });
  await assertAccessible(ada);
});

scenario("files of a grade reach the group when the grade is published", async (harness) => {
  await handIn(harness);
  const group = await harness.group("Rivers", "ana");
  const ada = await harness.page("ada", { path: await workOf(harness, "Rivers") });
  const ana = await harness.page("ana", {
    path: `/groups/${group.id}?place=feedback`,
    allow: [/status of 404 .*\/files\//],
  });
  await ada.getByRole("textbox", { name: "Grade" }).fill("B");
  await ada.getByText(/^Saved .* – not published yet$/).waitFor();
  const files = ada.getByRole("region", { name: "Files for the group" });
  const uploaded = ada.waitForResponse(
    (response) => response.url().includes("/files") && response.request().method() === "POST",
  );
  await files
    .locator("input[type=file]")
    .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Name your sources.") });
  assert.ok((await uploaded).ok());
  await files.getByRole("link", { name: "notes.txt" }).waitFor();
  const address = await files.getByRole("link", { name: "notes.txt" }).getAttribute("href");
  const statusFor = (page) => page.evaluate(async (url) => (await fetch(url, { cache: "no-store" })).status, address);
  assert.equal(await statusFor(ada), 200);
  await ana.reload();
  await ana.getByText("No feedback yet.").waitFor();
  assert.equal(await ana.getByRole("link", { name: "notes.txt" }).count(), 0);
  assert.equal(await statusFor(ana), 404, "the file does not exist for the group before");

  await ada.getByRole("button", { name: "Publish", exact: true }).click();
  await ada.getByText(/^Published today/).waitFor();
  const link = ana.getByRole("link", { name: "notes.txt" });
  await link.waitFor();
  const [saved] = await Promise.all([ana.waitForEvent("download"), link.click()]);
  assert.equal(saved.suggestedFilename(), "notes.txt");
  const content = await (await saved.createReadStream()).toArray();
  assert.equal(Buffer.concat(content).toString(), "Name your sources.");
  await assertAccessible(ana);

  await ada.getByRole("button", { name: "Take the grade back" }).click();
  await link.waitFor({ state: "detached" });
  assert.equal(await statusFor(ana), 404, "a withdrawn grade takes its files with it");
});

scenario("submission taken back during grading shows a notice and keeps the text", async (harness) => {
  const rivers = await handIn(harness);
  // A save that coincides with taking the submission back is rejected; one that follows it has a former version.
  const ada = await harness.page("ada", {
    path: await workOf(harness, "Rivers"),
    allow: [/status of 4(09|12) .*\/grade/],
  });
  await ada.getByRole("textbox", { name: "Feedback", exact: true }).fill("Look at the source again.");
  await rivers.takeBack();
  await ada.getByText("The group has just taken its work back. What you wrote is kept.").waitFor();
  await ada.getByText("Still working – you see the live document.").waitFor();
  await rivers.submit();
  await ada.getByRole("button", { name: "Publish", exact: true }).waitFor();
  await eventually(async () =>
    assert.equal(
      await ada.getByRole("textbox", { name: "Feedback", exact: true }).inputValue(),
      "Look at the source again.",
    ),
  );
});

scenario("keyboard moves between works and back to the same card", async (harness) => {
  const ada = await harness.page("ada", { path: await workOf(harness, "Rivers") });
  const heading = async (name) => {
    await ada.getByRole("heading", { level: 1, name }).waitFor();
    await rendered(ada);
  };
  await heading("1 Rivers");
  await ada.evaluate(() => (window.isSame = true));
  await ada.keyboard.press("n");
  await heading("2 Volcanoes");
  await ada.waitForFunction(() => document.activeElement?.tagName === "H1");
  await ada.keyboard.press("p");
  await heading("1 Rivers");

  for (const part of ["work-document", "work-panel", "work-head"]) {
    await ada.keyboard.press("F6");
    await ada.waitForFunction((id) => document.activeElement?.id === id, part);
  }
  await ada.getByRole("textbox", { name: "Feedback", exact: true }).focus();
  await ada.keyboard.press("n");
  await heading("1 Rivers");
  assert.equal(await ada.evaluate(() => window.isSame), true, "nothing was reloaded");
  await moveFocus(ada, "F6");
  await ada.keyboard.press("Escape");
  await ada.waitForURL(/\/board$/);
  const { id } = await harness.group("Rivers");
  await ada.waitForFunction((card) => document.activeElement.closest("[data-card]")?.dataset.card === card, id);
});

scenario("a rubric is created, filled and read by the group with the published grade", async (harness) => {
  const rivers = await handIn(harness);
  const { topic } = rivers;
  const picture = async (page, name) => {
    if (process.env.GROUPWORK_PICTURES)
      await page.screenshot({ path: `${process.env.GROUPWORK_PICTURES}/${name}.png`, fullPage: true });
  };
  const ada = await harness.page("ada", { path: `/topics/${topic.id}` });
  await ada.getByRole("button", { name: "Choose a rubric…" }).click();
  const dialog = ada.getByRole("dialog");
  await dialog.getByRole("button", { name: "New rubric…" }).click();
  await dialog.getByRole("textbox", { name: "Name of the rubric" }).fill("Map");
  const criterion = (number) => dialog.getByRole("group", { name: `Criterion ${number}` });
  const fill = async (number, title, levels) => {
    const fields = criterion(number);
    await fields.getByRole("textbox", { name: "What is assessed" }).fill(title);
    for (const [index, [label, points]] of levels.entries()) {
      await fields.getByRole("textbox", { name: `Level ${index + 1}`, exact: true }).fill(label);
      await fields.getByRole("textbox", { name: "Points" }).nth(index).fill(points);
    }
  };
  await fill(1, "Sources", [
    ["Missing", "0"],
    ["Named", "4"],
  ]);
  await dialog.getByRole("button", { name: "Add a criterion" }).click();
  await fill(2, "Drawing", [
    ["Rough", "0-2"],
    ["Clear", "3-6"],
  ]);
  await assertAccessible(ada);
  await picture(ada, "rubric-editor");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("button", { name: "Use Map" }).waitFor();
  await picture(ada, "rubrics");
  await dialog.getByRole("button", { name: "Use Map" }).click();
  await ada.getByRole("checkbox", { name: "Students see the criteria beforehand" }).waitFor();
  await assertAccessible(ada);
  await picture(ada, "topic-rubric");

  const ana = await harness.page("ana", { path: `/groups/${(await harness.group("Rivers")).id}` });
  await ana.getByText("Criteria", { exact: true }).first().click();
  await ana.getByText("Sources", { exact: true }).waitFor();

  await ada.goto(await workOf(harness, "Rivers"));
  await ada.getByText("Named", { exact: true }).click();
  await ada.getByText("1 criterion without a level. You can save, but not publish.").waitFor();
  await ada.getByText(/^Saved .* – not published yet$/).waitFor();
  await ada.getByText("Clear", { exact: true }).click();
  await ada.getByRole("textbox", { name: "Points, 3–6" }).fill("5");
  await ada.getByText("Total: 9 of 10").waitFor();
  await ada.getByRole("textbox", { name: "Comment on this criterion" }).last().fill("Strong lines.");
  await assertAccessible(ada);
  await picture(ada, "rubric-grading");
  await ada.getByText(/^Saved .* – not published yet$/).waitFor();
  assert.equal(await rivers.grade(), null, "the group sees no draft");
  await ada.getByRole("button", { name: "Publish", exact: true }).click();
  await ada.getByText(/^Published today/).waitFor();
  assert.deepEqual(
    (await rivers.grade()).rubric.map(({ criterion: title, points }) => [title, points]),
    [
      ["Sources", 4],
      ["Drawing", 5],
    ],
  );
  await ana.goto(`/groups/${(await harness.group("Rivers")).id}?place=feedback`);
  await ana.getByText("Strong lines.").waitFor();
  await assertAccessible(ana);
  await picture(ana, "rubric-feedback");

  // A grade uses the criteria now: they can be replaced once it does not.
  await ada.getByRole("button", { name: "Take the grade back" }).click();
  await ada.getByText(/^Saved .* – not published yet$/).waitFor();
  const api = await harness.api("ada");
  const { id } = (await api.get(`/assignments/${topic.id}`)).groupAssignments.find(
    ({ currentSubmission }) => currentSubmission?.grade?.rubric.length > 0,
  ).currentSubmission;
  await ada.goto("/today");
  await api.put(`/feedback/submissions/${id}/grade`, { rubric: [] });
  await api.delete(`/assignments/${topic.id}/rubric`);
  for (const rubric of await api.get("/rubrics")) await api.delete(`/rubrics/${rubric.id}`);
});

scenario("a text is saved once and inserted into other feedback", async (harness) => {
  const ada = await harness.page("ada", { path: await workOf(harness, "Coasts") });
  const feedback = ada.getByRole("textbox", { name: "Feedback", exact: true });
  await feedback.fill("Name the source of each picture.");
  await ada.getByRole("button", { name: "Save this text for later" }).first().click();
  await ada.getByText("Saved to your texts").waitFor();
  await feedback.fill("Well done.");
  await ada.getByRole("button", { name: "Insert a text…" }).first().click();
  const dialog = ada.getByRole("dialog");
  await dialog.getByRole("button", { name: "New text…" }).click();
  await dialog.getByRole("textbox", { name: "Text" }).fill("Compare two maps.");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await dialog.getByRole("button", { name: "Compare two maps.", exact: true }).waitFor();
  await assertAccessible(ada);
  if (process.env.GROUPWORK_PICTURES) await ada.screenshot({ path: `${process.env.GROUPWORK_PICTURES}/snippets.png` });
  await dialog.getByRole("button", { name: "Name the source of each picture.", exact: true }).click();
  await eventually(async () =>
    assert.equal(await feedback.inputValue(), "Well done.\nName the source of each picture."),
  );
  await feedback.fill("");
  const api = await harness.api("ada");
  const texts = await api.get("/snippets");
  assert.equal(texts.length, 2);
  for (const { id } of texts) await api.delete(`/snippets/${id}`);
});

scenario("teacher returns work for revision and submits on behalf of a group", async (harness) => {
  const ada = await harness.page("ada", { path: await workOf(harness, "Coasts") });
  await ada.getByRole("button", { name: "Ask to revise…" }).click();
  const window = ada.getByRole("dialog");
  await window.getByLabel("What they should do").fill("Name your sources.");
  await window.getByRole("button", { name: "Ask to revise" }).click();
  await ada.getByText("You asked for a revision. The group is working on it again").waitFor();
  await ada.getByRole("button", { name: "Submit for the group…" }).click();
  await assertAccessible(ada);
  await window.getByRole("button", { name: "Submit", exact: true }).click();
  await ada.getByText("by a teacher for the group").waitFor();
});

scenario("a talk without a document is recorded, graded and read by the group", async (harness) => {
  const topic = await harness.topic("Landforms");
  const whole = await (await harness.api("ada")).get(`/assignments/${topic.id}`);
  const free = whole.groupAssignments.find((one) => one.currentSubmissionId === null && one.status !== "RETURNED");
  const ada = await harness.page("ada", { path: `/topics/${topic.id}/work/${free.groupId}` });
  await ada.getByRole("button", { name: "Work without a document…" }).click();
  const dialog = ada.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "What it was" }).fill("Talk about lakes");
  await assertAccessible(ada);
  await dialog.getByRole("button", { name: "Record the work" }).click();
  await ada.getByRole("button", { name: "Remove the record…" }).waitFor();
  await ada.getByRole("textbox", { name: "Grade" }).fill("A");
  await ada.getByText(/^Saved .* – not published yet$/).waitFor();
  await ada.keyboard.press("Control+Enter");
  await ada.getByText(/^Published today/).waitFor();
  const { groupAssignments } = await (await harness.api("ada")).get(`/workrooms/group/${free.groupId}`);
  const work = groupAssignments.find((one) => one.id === free.id);
  assert.equal(work.status, "GRADED");
  await ada.getByRole("button", { name: "Take the grade back" }).click();
  await ada.getByRole("button", { name: "Remove the record…" }).click();
  await ada.getByRole("alertdialog").getByRole("button", { name: "Remove the record" }).click();
  await ada.getByRole("button", { name: "Work without a document…" }).waitFor();
});

scenario("posters of several groups are recorded in one dialog", async (harness) => {
  const topic = await harness.topic("Landforms");
  const api = await harness.api("ada");
  const ada = await harness.page("ada", { path: `/submissions?assignmentId=${topic.id}` });
  await ada.getByRole("button", { name: "Work without a document…" }).click();
  const dialog = ada.getByRole("dialog");
  await dialog.getByText("All groups", { exact: true }).click();
  await dialog.getByRole("textbox", { name: "What it was" }).fill("Poster");
  const record = dialog.getByRole("button", { name: /^Record the work of \d+ groups$/ });
  const count = Number(/\d+/.exec(await record.innerText()));
  assert.equal(await dialog.getByRole("checkbox").count(), count + 1);
  assert.ok(count > 1, "several groups have not submitted");
  if (process.env.GROUPWORK_PICTURES)
    await ada.screenshot({ path: `${process.env.GROUPWORK_PICTURES}/record-work.png` });
  await assertAccessible(ada);
  await record.click();
  await ada.getByText(`Work of ${count} groups recorded`).waitFor();
  const recorded = async () => {
    const { groupAssignments } = await api.get(`/assignments/${topic.id}`);
    return groupAssignments.filter((one) => one.currentSubmission?.note === "Poster");
  };
  const works = await recorded();
  assert.equal(works.length, count);
  for (const { groupId } of works) await api.delete(`/assignments/${topic.id}/groups/${groupId}/submission`);
  assert.equal((await recorded()).length, 0);
});

scenario("grades are imported from a table and published for all groups", async (harness) => {
  const { topic, grade } = await handIn(harness);
  const ada = await harness.page("ada", { path: `/submissions?assignmentId=${topic.id}` });
  const menu = async (item) => {
    await ada.getByRole("button", { name: "Grade table" }).click();
    await ada.getByRole("menuitem", { name: item }).click();
  };
  const [saved] = await Promise.all([ada.waitForEvent("download"), menu("Download as CSV")]);
  const table = await (await saved.createReadStream()).toArray();
  const lines = Buffer.concat(table).toString().split("\r\n");
  const header = lines[0].split(",");
  const filled = lines.map((line, index) => {
    const cells = line.split(",");
    if (index > 0 && cells[header.indexOf("userId")] === "" && cells[0] !== "") cells[header.indexOf("value")] = "A";
    return cells.join(",");
  });

  await menu("Import from CSV…");
  const window = ada.getByRole("dialog");
  await window
    .locator("input[type=file]")
    .setInputFiles({ name: "grades.csv", mimeType: "text/csv", buffer: Buffer.from(filled.join("\r\n")) });
  await window.getByRole("button", { name: /^Import \d+ rows?$/ }).click();
  await window.waitFor({ state: "hidden" });
  assert.equal(await grade(), null, "imported grades are drafts");

  await ada.getByRole("button", { name: /^Publish \d grades?…$/ }).click();
  await ada
    .getByRole("alertdialog")
    .getByRole("button", { name: /^Publish \d grades?$/ })
    .click();
  await ada
    .getByRole("row", { name: /Rivers/ })
    .getByText("Graded")
    .waitFor();
  await eventually(async () => assert.equal((await grade())?.value, "A"));
});

scenario("keyboard opens a work from the overview and returns", async (harness) => {
  const ada = await harness.page("ada", { path: "/submissions?status=ALL" });
  await ada
    .getByRole("textbox", { name: "Search" })
    .or(ada.getByRole("searchbox", { name: "Search" }))
    .focus();
  await ada.keyboard.type("Coasts");
  await ada.waitForURL(/search=Coasts/);
  await ada.getByText("1 group", { exact: true }).waitFor();
  await moveFocus(ada, "Tab");
  await ada.keyboard.press("Enter");
  await ada.getByRole("heading", { level: 1, name: "5 Coasts" }).waitFor();
  await ada.goBack();
  await ada.getByText("1 group", { exact: true }).waitFor();
});

scenario("failed PDF conversion shows an error and can be retried", async (harness) => {
  const ada = await harness.page("ada", { path: await workOf(harness, "Coasts"), allow: [/status of 502/] });
  const refusal = {
    status: 502,
    contentType: "application/json",
    body: JSON.stringify({ code: "DOCSERVER_ERROR", message: "no", requestId: "1" }),
  };
  await ada.route("**/pdf", (route) => route.fulfill(refusal));
  await ada.getByRole("button", { name: "Coasts.docx as PDF" }).first().click();
  const tray = ada.getByRole("region", { name: "Downloads" });
  await tray.getByText("The document editor could not do that.").waitFor();
  await assertAccessible(ada);
  await ada.unroute("**/pdf");
  const [saved] = await Promise.all([
    ada.waitForEvent("download"),
    tray.getByRole("button", { name: "Try again" }).click(),
  ]);
  assert.equal(saved.suggestedFilename(), "Coasts.pdf");
});

scenario("topic archive downloads while the user navigates", async (harness) => {
  const { topic } = await handIn(harness);
  const ada = await harness.page("ada", { path: `/submissions?assignmentId=${topic.id}` });
  await ada.getByRole("button", { name: /^ZIP of all submissions/ }).click();
  await ada.getByRole("radio", { name: "Both" }).check({ force: true });
  const [saved] = await Promise.all([
    ada.waitForEvent("download"),
    ada.getByRole("button", { name: "Create ZIP" }).click(),
  ]);
  assert.match(saved.suggestedFilename(), /\.zip$/);
  const tray = ada.getByRole("region", { name: "Downloads" });
  await tray.getByText("Ready and saved.").waitFor();
  await ada.getByRole("link", { name: "Today", exact: true }).first().click();
  await ada.waitForURL(/\/today$/);
  await tray.getByText("Ready and saved.").waitFor();
  await assertAccessible(ada);
});
