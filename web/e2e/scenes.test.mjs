// How many clicks the scenes of a teacher's week take, and of the students in it.
import assert from "node:assert/strict";

import { chooseFile, countClicks, type } from "./clicks.mjs";
import { ready, scenario, until } from "./harness.mjs";

/** Most clicks and keys of each step. */
const BOUNDS = {
  "prepare a topic": 25,
  "open the board": 1,
  "mark a call for help as handled": 1,
  "write to all groups": 2,
  "give more time": 2,
  "move a student": 3,
  "grade the first submission": 3,
  "ask to revise": 2,
  "finish the topic": 2,
  "save all works as ZIP": 2,
  "copy the topic": 3,
  submit: 2,
  "take back": 1,
  "submit late": 2,
};

/** Performs the steps of a page and asserts their bounds. */
async function stepsOn(page, t) {
  const clicks = await countClicks(page);
  return async (name, act) => {
    const count = await clicks.during(act);
    t.diagnostic(`${name}: ${count} of ${BOUNDS[name]}`);
    assert.ok(count > 0 && count <= BOUNDS[name], `${name} takes ${count} clicks, at most ${BOUNDS[name]} are allowed`);
  };
}

scenario("click repeated because the button moved counts once", async (harness) => {
  const page = await harness.page("ada", { path: "/" });
  await page.evaluate(() => {
    const button = document.body.appendChild(document.createElement("button"));
    button.textContent = "Moves";
    Object.assign(button.style, { position: "fixed", zIndex: "1000", top: "50px", left: "50px" });
    addEventListener("mousemove", () => (button.style.top = "300px"), { once: true });
  });
  const clicks = await countClicks(page);
  assert.equal(await clicks.during(() => page.getByRole("button", { name: "Moves" }).click()), 1);
});

scenario("an evening of preparation", async (harness, t) => {
  const page = await harness.page("ada", { path: "/", zone: "Europe/Berlin" });
  const step = await stepsOn(page, t);
  await step("prepare a topic", async () => {
    await page.getByRole("link", { name: "Courses", exact: true }).first().click();
    await page.getByRole("link", { name: "Our earth" }).first().click();
    await page.getByRole("link", { name: "New topic" }).click();
    await type(page.getByRole("textbox", { name: "Title" }), "Lakes");
    await type(page.getByRole("textbox", { name: "Text for all groups" }), "Draw a map of a lake.");
    await chooseFile(page, page.getByRole("button", { name: "Add files" }).last(), {
      name: "lakes.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("Lake Constance"),
    });
    await page.getByText("lakes.txt").waitFor();
    await page.getByRole("button", { name: "Next: groups and times" }).click();
    await page.getByRole("spinbutton").first().click();
    await page.keyboard.type("240620301030");
    await page.getByText("Publish at…", { exact: true }).click();
    await page
      .getByRole("group", { name: /^Publish at/ })
      .getByRole("spinbutton")
      .first()
      .click();
    await page.keyboard.type("200620300800");
    await page.locator("section[aria-labelledby=groups]").getByText("Deserts").click();
    await page.getByRole("button", { name: "Create the topic" }).click();
    await page.getByRole("heading", { level: 1, name: "Lakes" }).waitFor();
    await page.getByRole("link", { name: "lakes.txt" }).waitFor();
  });
  const made = await harness.topic("Lakes");
  assert.equal(made.deadline, "2030-06-24T08:30:00.000Z");
  assert.equal(made.publishAt, "2030-06-20T06:00:00.000Z");
  assert.ok(!made.groupAssignments.some((one) => one.group.name === "Deserts"));
});

const STUDENTS = ["ana", "ben", "cleo", "dario", "ella", "finn"];

scenario("a lesson with six students", async (harness, t) => {
  const topic = await harness.topic("Landforms");
  const groups = topic.groupAssignments.map((one) => one.groupId);
  const students = [];
  for (const who of STUDENTS) {
    const own = await (await harness.api(who)).get("/groups");
    const group = own.find((one) => groups.includes(one.id));
    // The student who is moved loses the group that the page shows.
    const allow = who === "ben" ? [/status of 404/] : [];
    students.push(await harness.page(who, { path: `/groups/${group.id}`, allow }));
  }
  const [ana, ben] = students;
  const board = await harness.page("ada", { path: "/" });
  const step = await stepsOn(board, t);
  const card = (name) => board.locator("article").filter({ hasText: name });
  await step("open the board", async () => {
    await board.locator(`a[href="/topics/${topic.id}/board"]`).first().click();
    await board.locator("[data-card]").first().waitFor();
  });
  await ana.getByRole("button", { name: "Ask for help", exact: true }).click();
  const question = ana.getByRole("dialog");
  await type(question.getByRole("textbox"), "May we use the atlas?");
  await question.getByRole("button", { name: "Ask for help", exact: true }).click();
  const call = board.locator("aside ol > li").filter({ hasText: "May we use the atlas?" });
  await call.waitFor();
  await step("mark a call for help as handled", async () => {
    await call.getByRole("button", { name: /^Handled/ }).click();
    await call.waitFor({ state: "detached" });
  });
  await step("write to all groups", async () => {
    await board.getByRole("button", { name: "Message all" }).click();
    const dialog = board.getByRole("dialog");
    await type(dialog.getByRole("textbox"), "The atlas is on my desk.");
    await dialog.getByRole("button", { name: "Send", exact: true }).click();
    await board.getByText("Sent to 8 groups").waitFor();
  });
  for (const page of students) await page.getByText("The atlas is on my desk.").first().waitFor();
  await step("give more time", async () => {
    await board.getByRole("button", { name: "+5 min" }).click();
    await board.getByRole("button", { name: "Give 5 more minutes" }).click();
    await board.getByText("New end").first().waitFor();
  });
  await step("move a student", async () => {
    await card("Rivers").getByRole("button").click();
    await board.getByRole("menuitem", { name: /Move Ben Okoye/ }).click();
    await board
      .getByRole("dialog")
      .getByRole("button", { name: /4 Deserts/ })
      .click();
    await card("Deserts").getByText("Ben Okoye").waitFor();
  });
  await ben.getByRole("button", { name: "Go to Group 4: Deserts" }).waitFor();
});

/** Returns the work of the group Rivers on the topic. */
async function workOfRivers(harness) {
  const { groupAssignments } = await harness.topic("Landforms");
  return groupAssignments.find((one) => one.group.name === "Rivers");
}

/** Returns the report that the group Rivers writes. */
async function reportOfRivers(harness) {
  const rivers = await harness.group("Rivers", "ana");
  const { documents } = await (await harness.api("ana")).get(`/workrooms/${rivers.workRoomId}`);
  return { rivers, report: documents.find((one) => one.status === "DRAFT" && one.documentType === "word") };
}

scenario("a student submits, takes back, and submits late", async (harness, t) => {
  const topic = await harness.topic("Landforms");
  const { rivers, report } = await reportOfRivers(harness);
  const ana = await harness.page("ana", { path: `/groups/${rivers.id}/documents/${report.id}` });
  const step = await stepsOn(ana, t);
  const submit = async () => {
    await ana
      .getByRole("button", { name: /^Submit/ })
      .first()
      .click();
    await ana
      .getByRole("dialog")
      .getByRole("button", { name: /Submit for the group/ })
      .click();
    await ana
      .getByText(/Submitted .* by Ana Lima/)
      .first()
      .waitFor();
    // The history may show the same words about an earlier submission.
    await until(async () => (await workOfRivers(harness)).currentSubmissionId !== null, "the submission is stored");
  };
  await step("submit", submit);
  await step("take back", async () => {
    await ana.getByRole("button", { name: "Take back" }).click();
    await ana.getByText("Taken back. Your group can edit again.").waitFor();
  });
  const past = new Date(Date.now() - 60_000).toISOString();
  await (await harness.api("ada")).patch(`/assignments/${topic.id}`, { deadline: past, latePolicy: "ALLOW" });
  await ana.reload();
  await ready(ana);
  await step("submit late", submit);
  await ana.getByText(/late/).first().waitFor();
});

scenario("the works of a topic are graded, saved, copied and finished", async (harness, t) => {
  const topic = await harness.topic("Landforms");
  if ((await workOfRivers(harness)).currentSubmissionId === null) {
    const { report } = await reportOfRivers(harness);
    await (await harness.api("ana")).post(`/workrooms/documents/${report.id}/submit`, { assignmentId: topic.id });
  }
  const ada = await harness.page("ada", { path: `/submissions?assignmentId=${topic.id}` });
  const step = await stepsOn(ada, t);
  await step("save all works as ZIP", async () => {
    await ada.getByRole("button", { name: /^ZIP of all submissions/ }).click();
    await Promise.all([ada.waitForEvent("download"), ada.getByRole("button", { name: "Create ZIP" }).click()]);
  });
  await step("grade the first submission", async () => {
    await ada.getByRole("link", { name: /Rivers/ }).click();
    await type(ada.getByRole("textbox", { name: "Grade" }), "B+");
    await ada.getByRole("button", { name: "Publish", exact: true }).click();
    await ada.getByText(/^Published today/).waitFor();
  });
  await step("ask to revise", async () => {
    await ada.getByRole("button", { name: "Ask to revise…" }).click();
    await type(ada.getByLabel("What they should do"), "Name your sources.");
    await ada.getByRole("dialog").getByRole("button", { name: "Ask to revise" }).click();
    await ada.getByText("You asked for a revision.").waitFor();
  });
  await ada.goto(`/topics/${topic.id}/board`);
  await ada.locator("[data-card]").first().waitFor();
  await step("copy the topic", async () => {
    await ada
      .getByRole("button", { name: /^More: Landforms/ })
      .first()
      .click();
    await ada.getByRole("menuitem", { name: "Copy the topic…" }).click();
    await ada.getByRole("dialog").getByRole("button", { name: "Copy", exact: true }).click();
    await ada.waitForURL((url) => /^\/topics\/[^/]+$/.test(url.pathname) && !url.pathname.endsWith(topic.id));
  });
  await ada.goto(`/topics/${topic.id}/board`);
  await ada.locator("[data-card]").first().waitFor();
  await step("finish the topic", async () => {
    await ada.getByRole("button", { name: /^Finish/ }).click();
    await ada.getByRole("alertdialog").getByRole("button", { name: "Finish the topic" }).click();
    await ada.getByRole("button", { name: "Reopen" }).waitFor();
  });
});
