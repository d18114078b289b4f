// Group maker: cards moved by keyboard and menu, undo, wishes, and a group number that was taken in the meantime.
import assert from "node:assert/strict";

import { assertAccessible, eventually, moveFocus, pressItem, scenario } from "./harness.mjs";

const NAMES = ["Rivers", "Volcanoes", "Glaciers", "Deserts", "Coasts", "Islands", "Plains", "Caves"];

/** Creates a class of sixteen students with a course and eight groups of two, used by this file only. */
const begin = async (harness) => {
  const api = await harness.api("ada");
  const { class: other, subjectId } = (await api.get("/courses")).find((one) => one.name === "Our earth");
  const pupils = (await api.get(`/classes/${other.id}/students`)).slice(0, 16).map(({ user }) => user);
  const { id: classId } = await api.post("/classes", {
    name: "7x",
    academicYear: "2026/2027",
    subjectIds: [subjectId],
  });
  await api.post(`/classes/${classId}/students`, { studentIds: pupils.map(({ id }) => id) });
  const course = await api.post("/courses", { name: "The ground", classId, subjectId });
  const groups = [];
  for (const [index, name] of NAMES.entries()) {
    const memberIds = pupils.slice(2 * index, 2 * index + 2).map(({ id }) => id);
    groups.push(await api.post("/groups", { classId, courseId: course.id, name, groupNumber: index + 1, memberIds }));
  }
  return { course, students: pupils.map((one) => one.name) };
};
let begun;

const open = async (harness, options = {}) => {
  begun ??= begin(harness);
  const { course, students } = await begun;
  const page = await harness.page("ada", { path: `/courses/${course.id}/divide`, ...options });
  await page.locator("[data-place]").first().waitFor();
  /** Returns a group of the course as stored by the service. */
  const known = async (name) =>
    (await (await harness.api("ada")).get(`/groups?classId=${course.classId}`)).find((one) => one.name === name);
  const members = async (name) => (await known(name)).members.map((member) => member.user.name).toSorted();
  /** Names of the initial members of the nth group, counted from 1. */
  const pair = (number) => students.slice(2 * number - 2, 2 * number);
  return { page, course, known, members, pair };
};
const group = (page, name) => page.getByRole("region", { name, exact: true });
const card = (page, place, name) => group(page, place).getByRole("row", { name });
const announcement = (page) => page.getByRole("region", { name: "What will be saved" }).getByRole("status");

scenario("card is moved by keyboard, undone, and saved by the button only", async (harness) => {
  const { page, known, members, pair } = await open(harness);
  const volcanoes = await known("Volcanoes");
  const [mover, stayer] = pair(1);
  // Enter picks the card up, Tab moves it between groups, Enter drops it.
  await card(page, "1 Rivers", mover).focus();
  await moveFocus(page, "ArrowRight");
  await moveFocus(page, "Enter");
  const over = () =>
    page.evaluate(() => document.activeElement?.closest("[data-place]")?.getAttribute("data-place") ?? "");
  for (let step = 0; step < 30 && (await over()) !== volcanoes.id; step += 1) await moveFocus(page, "Tab");
  assert.equal(await over(), volcanoes.id, "the card can be moved to every group");
  await page.keyboard.press("Enter");
  await announcement(page).getByText(`${mover} moved to 2 Volcanoes, 3 members`).waitFor();
  await card(page, "2 Volcanoes", mover).getByText("from 1 Rivers").waitFor();
  assert.deepEqual(
    await members("Rivers"),
    [mover, stayer].toSorted(),
    "nothing is saved before the button is pressed",
  );

  await page.keyboard.press("Control+z");
  await card(page, "1 Rivers", mover).waitFor();
  // After undo there is nothing to save.
  await page.getByRole("button", { name: "Save" }).and(page.locator(":disabled")).waitFor();

  // Using the menu of the card; the focus stays in the column, so that several cards can be moved in sequence.
  await card(page, "1 Rivers", mover).focus();
  for (const key of ["ArrowRight", "ArrowRight"]) await moveFocus(page, key);
  await page.keyboard.press("Enter");
  await pressItem(page, page.getByRole("menuitem", { name: /^2 Volcanoes/ }));
  await card(page, "2 Volcanoes", mover).waitFor();
  await page.waitForFunction((name) => document.activeElement?.textContent?.includes(name), stayer);
  await assertAccessible(page);

  // Leaving with unsaved changes asks for confirmation; saving is one button.
  await page.getByRole("link", { name: "Courses" }).first().click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Stay here" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("1 change saved.").first().waitFor();
  assert.deepEqual(await members("Rivers"), [stayer]);
  assert.deepEqual(await members("Volcanoes"), [mover, ...pair(2)].toSorted());
});

scenario("random groups keep two students apart, and a taken number is reported at its group", async (harness) => {
  const { page, course, known, pair } = await open(harness);
  const [one, other] = [pair(1)[0], pair(2)[0]];
  const api = await harness.api("ada");
  await page.getByText("Leave students who are in a group").click();
  await page.getByText("Number of groups").click();
  const count = page.getByRole("textbox", { name: "Groups", exact: true });
  await count.fill("2");
  await count.press("Tab");
  await page.getByRole("button", { name: "Keep apart…" }).click();
  const dialog = page.getByRole("dialog");
  for (const name of [one, other]) await dialog.getByText(name).click();
  await dialog.getByRole("button", { name: "Keep apart…" }).click();
  await page.getByRole("button", { name: "Shuffle" }).click();
  await announcement(page).getByText("2 groups of 16 students, not saved yet.").waitFor();
  const first = page.locator('[data-group^="new"]').first().getByRole("row");
  await eventually(async () => assert.equal(await first.count(), 8));
  assert.equal(
    (await first.allInnerTexts()).filter((text) => text.includes(one) || text.includes(other)).length,
    1,
    "the two students are in different groups",
  );

  const number = Number(
    (await page.locator('[data-group^="new"]').first().getAttribute("data-group")).replace("new", ""),
  );
  const taken = await api.post("/groups", { classId: course.classId, groupNumber: number, name: "Faster" });
  const clash = group(page, `Group ${number}`);
  await clash.getByText(`Group number ${number} exists already in this class.`).waitFor();
  await page.getByRole("button", { name: /^Create \d+ groups?$/ }).click();
  await page.waitForFunction((name) => document.activeElement?.getAttribute("aria-label") === name, `Group ${number}`);
  await clash.getByRole("button", { name: `More: Group ${number}` }).click();
  await page.getByRole("menuitem", { name: "Name and number…" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Number" }).fill("90");
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Explorers");
  await page.getByRole("dialog").getByRole("button", { name: "Apply" }).click();
  await page.getByRole("button", { name: /^Create \d+ groups?$/ }).click();
  await page.getByText("2 groups created.").first().waitFor();
  const explorers = await known("Explorers");
  assert.equal(explorers.groupNumber, 90);
  assert.equal(explorers.memberCount + (await known(`Group ${number + 1}`)).memberCount, 16);
  await api.delete(`/groups/${taken.id}`);
});

scenario("card is moved by its menu on a phone without horizontal scrolling", async (harness) => {
  const { page, pair } = await open(harness, { width: 320, height: 640 });
  const [name] = pair(8);
  await card(page, "8 Caves", name).getByRole("button", { name: /^More/ }).click();
  await page.getByRole("menuitem", { name: "Not in a group" }).click();
  await announcement(page).getByText(`${name} taken out of 8 Caves`).waitFor();
  await page.waitForFunction(() => document.documentElement.scrollWidth <= 320);
});

scenario("rejected change is reported and kept, the other change is saved", async (harness) => {
  const { page, members, pair } = await open(harness, { allow: [/status of 409/] });
  const [[refused], [saved]] = [pair(4), pair(6)];
  for (const [place, name] of [
    ["4 Deserts", refused],
    ["6 Islands", saved],
  ]) {
    await card(page, place, name).getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: /^5 Coasts/ }).click();
    await card(page, "5 Coasts", name).waitFor();
  }
  const refusal = { code: "STUDENT_NOT_ENROLLED", message: "This student is not in the class.", details: [] };
  await page.route(
    "**/move",
    (route) => route.fulfill({ status: 409, contentType: "application/json", body: JSON.stringify(refusal) }),
    { times: 1 },
  );
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("1 of 2 changes could not be saved:").waitFor();
  await page.getByText(`${refused}, 5 Coasts: This student is not in the class any more.`).waitFor();
  await page.getByText("1 change in existing groups").waitFor();
  assert.ok((await members("Coasts")).includes(saved));
  assert.ok((await members("Deserts")).includes(refused));
});

scenario("teacher of another class sees the course without requesting student names", async (harness) => {
  const { course } = await (begun ??= begin(harness));
  const asked = [];
  const page = await harness.page("tom");
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`/courses/${course.id}/divide`);
  await page.getByText("You do not teach class 7x").waitFor();
  await page.waitForURL(`**/courses/${course.id}`);
  assert.ok(!asked.some((path) => path.endsWith("/students")), asked.join(" "));
});
