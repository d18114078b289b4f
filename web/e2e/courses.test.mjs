// Courses as folders, groups and their members, classes: the tasks of a teacher between lessons.
import assert from "node:assert/strict";

import { assertAccessible, eventually, focusIs, rendered, scenario, until } from "./harness.mjs";

const courseOf = async (harness, name) =>
  (await (await harness.api("ada")).get("/courses")).find((one) => one.name === name);
const button = (page, name) => page.getByRole("button", { name, exact: true });
/** Creates a course of class 7b with two numbered groups; the first has two students. */
const withGroups = async (harness, name) => {
  const api = await harness.api("ada");
  const { classId, subjectId } = await courseOf(harness, "Our earth");
  const course = await api.post("/courses", { name, classId, subjectId });
  const students = (await api.get(`/classes/${classId}/students`)).slice(0, 2).map(({ user }) => user);
  const group = (title, memberIds) =>
    api.post("/groups", { classId, courseId: course.id, name: `${name}: ${title}`, memberIds });
  const groups = [
    await group(
      "firs",
      students.map(({ id }) => id),
    ),
    await group("elms", []),
  ];
  const [first, second] = groups.map((one) => `${one.groupNumber} ${one.name}`);
  const members = async (one) => (await harness.group(one.name)).members.map((member) => member.user.name);
  return { course, students: students.map((student) => student.name), groups, first, second, members };
};

scenario("course is created in an empty folder and found in the tree by keyboard", async (harness) => {
  const api = await harness.api("ada");
  const seven = (await api.get("/classes")).find((one) => one.name === "7b");
  const biology = (await api.get("/subjects")).find((one) => one.name === "Biology");
  const page = await harness.page("ada", {
    path: `/courses?class=${seven.id}&subject=${biology.id}`,
    allow: [/status of 409/],
  });
  await page.getByText("No course for 7b / Biology yet.").waitFor();
  await button(page, "New course here").click();
  await page.getByRole("textbox", { name: "Name" }).fill("Plants in spring");
  await button(page, "Create course").click();
  await page.getByRole("link", { name: "Plants in spring" }).waitFor();

  // A duplicate name in the same folder is rejected at the field.
  await button(page, "New course").click();
  await page.getByRole("textbox", { name: "Name" }).fill("Plants in spring");
  await button(page, "Create course").click();
  await page.getByRole("dialog").getByText("A course with this name already exists").waitFor();
  await page.keyboard.press("Escape");

  // Tab moves into the tree; End, characters, arrow keys and Enter work there.
  const tree = page.getByRole("treegrid");
  await tree.getByRole("row", { name: "Biology" }).focus();
  await page.keyboard.press("ArrowRight");
  await tree.getByRole("row", { name: "Plants in spring" }).waitFor();
  await page.keyboard.press("Home");
  await focusIs(page, /All courses/);
  // One character: further ones belong to the first only for a moment.
  await page.keyboard.type("g");
  await focusIs(page, /Geography/);
  await page.keyboard.press("ArrowRight");
  await tree.getByRole("row", { name: "Our earth" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await focusIs(page, /Our earth/);
  await page.keyboard.press("ArrowRight");
  await tree.getByRole("row", { name: "1 Rivers" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Our earth" }).waitFor();
  await page.waitForURL(/\/courses\/[^/?]+$/);
});

scenario("course is created in the selected folder before the list of subjects has loaded", async (harness) => {
  const api = await harness.api("ada");
  const { classId, subjectId } = await courseOf(harness, "Our earth");
  const page = await harness.page("ada", { path: `/courses?class=${classId}&subject=${subjectId}` });
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/\/api\/subjects$/, async (route) => {
    await held;
    await route.continue();
  });
  await button(page, "New course").click();
  await page.getByRole("textbox", { name: "Name" }).fill("Weather maps");
  await button(page, "Create course").click();
  await until(async () => (await courseOf(harness, "Weather maps")) !== undefined, "the course is stored");
  release();
  await page.getByRole("link", { name: "Weather maps" }).first().waitFor();
  await api.delete(`/courses/${(await courseOf(harness, "Weather maps")).id}`);
});

scenario("course is found by name, archived with undo, and deleted by typing its name", async (harness) => {
  if ((await courseOf(harness, "Plants in spring")) === undefined) {
    const api = await harness.api("ada");
    const biology = (await api.get("/subjects")).find((one) => one.name === "Biology");
    const { classId } = await courseOf(harness, "Our earth");
    await api.post("/courses", { name: "Plants in spring", classId, subjectId: biology.id });
  }
  // The event that deletes the course may arrive before the response to the DELETE request.
  const page = await harness.page("ada", { path: "/courses", allow: [/status of 404 .*\/api\/courses\//] });
  await page.getByRole("combobox", { name: "Find a course" }).fill("spring");
  await page.getByRole("option", { name: /Plants in spring.*7b · Biology/ }).click();
  await page.getByRole("heading", { level: 1, name: "Plants in spring" }).waitFor();

  await button(page, "More: Plants in spring").click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByText("Archived: no new topics or groups").waitFor();
  await eventually(async () => assert.equal(await page.getByRole("link", { name: "New topic" }).count(), 0));
  await button(page, "Undo").click();
  await page.getByRole("link", { name: "New topic" }).first().waitFor();

  await button(page, "More: Plants in spring").click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const question = page.getByRole("alertdialog");
  await question.getByText("0 documents").waitFor();
  const yes = button(question, "Delete the course");
  await yes.and(page.locator(":disabled")).waitFor();
  await assertAccessible(page, "the question before a course goes");
  await question.getByRole("textbox").fill("Plants in spring");
  await yes.click();
  await page.getByRole("heading", { level: 1, name: "Courses" }).waitFor();
  await eventually(async () => assert.equal(await courseOf(harness, "Plants in spring"), undefined));
});

scenario("student is removed from a group, restored by undo, and moved to another group", async (harness) => {
  const { course, students, groups, first, second, members } = await withGroups(harness, "Trees");
  const [leaver, stayer] = students;
  const page = await harness.page("ada", { path: `/courses/${course.id}?tab=groups` });
  const firs = page.getByRole("list", { name: `In ${first}` });
  await button(page, "Edit groups").click();
  await button(firs, leaver).click();
  await page.getByRole("menuitem", { name: "Remove from this group" }).click();
  await firs.getByText(leaver).waitFor({ state: "detached" });
  await eventually(async () => assert.deepEqual(await members(groups[0]), [stayer]));
  // The focus moves to the remaining member.
  await page.waitForFunction((name) => document.activeElement?.textContent?.endsWith(name), stayer);
  await button(page, "Undo").click();
  await firs.getByText(leaver).waitFor();

  await page.getByRole("tab", { name: /Students/ }).click();
  await button(page, `More: ${leaver}`).click();
  await page.getByRole("menuitem", { name: `To ${second}` }).click();
  await page.getByRole("listitem").filter({ hasText: leaver }).getByRole("link", { name: second }).waitFor();
  await eventually(async () => assert.deepEqual(await members(groups[1]), [leaver]));
  await page.waitForURL(/tab=students/);
});

scenario(
  "deleted group gives the focus to the next one, also when the event comes before the response",
  async (harness) => {
    const { course, first, second } = await withGroups(harness, "Shrubs of the wood");
    const page = await harness.page("ada", { path: `/courses/${course.id}?tab=groups` });
    const row = page.getByRole("link", { name: first, exact: true });
    await button(page, "Edit groups").click();
    await button(page, `More: ${first}`).click();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    await page.route(
      ({ pathname, search }) => /\/api\/groups\/[^/]+$/.test(pathname) && search === "",
      async (route) => {
        if (route.request().method() !== "DELETE") return route.continue();
        const response = await route.fetch();
        await row.waitFor({ state: "detached" });
        return route.fulfill({ response });
      },
    );
    await button(page, "Delete the group").click();
    await page.getByText(/is deleted, with/).waitFor();
    await page.waitForFunction((name) => document.activeElement?.closest("li")?.textContent?.includes(name), second);
  },
);

/** Creates a class as its teacher would; returns its page. */
async function createClass(harness, name) {
  const page = await harness.page("ada", { path: "/courses" });
  await button(page, "New class").click();
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("textbox", { name: "School year" }).fill("2026/2027");
  await page.getByText("Geography", { exact: true }).last().click();
  await button(page, "Create class").click();
  await page.getByRole("heading", { level: 1, name: `Class ${name}` }).waitFor();
  return page;
}

scenario("search for a student hides other names at once, while the service is still searching", async (harness) => {
  const page = await createClass(harness, "9d");
  const field = page.getByRole("combobox", { name: "Add a student" });
  await field.click();
  await eventually(async () => assert.ok((await page.getByRole("option").count()) > 5, "all students are listed"));

  let finishSearch;
  const searching = new Promise((resolve) => (finishSearch = resolve));
  const searchRequest = page.waitForRequest(/\/api\/users\?.*search=/);
  await page.route(/\/api\/users\?.*search=/, async (route) => {
    await searching;
    await route.continue();
  });
  await field.fill("mira");
  await searchRequest;
  await rendered(page);
  await eventually(async () =>
    assert.deepEqual(await page.getByRole("option").allInnerTexts(), ["Mira Haddad"], "only matching names are left"),
  );
  finishSearch();
  await page.getByRole("option", { name: "Mira Haddad" }).click();
  await page.getByRole("tabpanel").getByRole("listitem").filter({ hasText: "Mira Haddad" }).waitFor();
});

scenario("class is created, gets a student and a teacher, and is cloned for the next year", async (harness) => {
  const page = await createClass(harness, "9c");

  const mira = page.getByRole("tabpanel").getByRole("listitem").filter({ hasText: "Mira Haddad" });
  await page.getByRole("combobox", { name: "Add a student" }).fill("mira");
  await page.getByRole("option", { name: /Mira Haddad/ }).click();
  await mira.getByText("In no group").waitFor();
  await button(page, "More: Mira Haddad").click();
  await page.getByRole("menuitem", { name: "Remove from the class" }).click();
  await page.getByText("Nobody is in this class yet").waitFor();
  await page
    .getByRole("alertdialog")
    .filter({ hasText: "was removed from the class" })
    .getByRole("button", { name: "Undo" })
    .click();
  await mira.waitFor();

  await page.getByRole("tab", { name: /Teachers/ }).click();
  await page.getByRole("combobox", { name: "Add a co-teacher" }).fill("tom");
  await page.getByRole("option", { name: /Tom Fischer/ }).click();
  await button(page, "Remove the co-teacher Tom Fischer").waitFor();

  await button(page, "More: 9c").click();
  await page.getByRole("menuitem", { name: "Copy for a new year…" }).click();
  await page.getByText("The students", { exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByText("2027/2028", { exact: true }).waitFor();
  await mira.waitFor();
});

scenario("taken group number is rejected at the field and can be corrected", async (harness) => {
  const { id } = await courseOf(harness, "Our earth");
  const page = await harness.page("ada", { path: `/courses/${id}?tab=groups`, allow: [/status of 409/] });
  await button(page, "More: 3 Glaciers").click();
  await page.getByRole("menuitem", { name: "Change…" }).click();
  const window = page.getByRole("dialog");
  await window.getByRole("textbox", { name: "Number" }).fill("1");
  await button(window, "Save").click();
  await window.getByText("This group number is taken").waitFor();
  await window.getByRole("textbox", { name: "Number" }).fill("33");
  await button(window, "Save").click();
  await page.getByRole("link", { name: "33 Glaciers", exact: true }).waitFor();
});

scenario("change without a network fails with an error and keeps the page", async (harness) => {
  const { course, students, groups, first, members: membersOf } = await withGroups(harness, "Shrubs");
  const [student] = students;
  const page = await harness.page("ada", {
    path: `/courses/${course.id}?tab=groups`,
    allow: [/ERR_INTERNET_DISCONNECTED/],
  });
  const members = page.getByRole("list", { name: `In ${first}` });
  await members.getByText(student).waitFor();
  await button(page, "Edit groups").click();
  await button(members, student).click();
  const out = page.getByRole("menuitem", { name: "Remove from this group" });
  await out.waitFor();
  // The code of the toasts is loaded after everything else.
  await page.waitForFunction(() =>
    performance
      .getEntriesByType("resource")
      .some(({ name, responseEnd }) => name.includes("ToastRegion") && responseEnd > 0),
  );
  await page.context().setOffline(true);
  await out.click();
  await page.getByText("The service cannot be reached").first().waitFor();
  await members.getByText(student).waitFor();
  await page.context().setOffline(false);
  assert.deepEqual((await membersOf(groups[0])).toSorted(), students.toSorted());
});

scenario("topics of a class run during its lessons", async (harness) => {
  const topic = await harness.topic("Landforms");
  const api = await harness.api("ada");
  const WEEK = [1, 2, 3, 4, 5, 6, 7];
  const lessons = (weekdays, start, end) => weekdays.map((weekday) => ({ weekday, start, end, room: "Room 12" }));
  const timetable = (schedule) => api.patch(`/classes/${topic.class.id}`, { schedule });
  await timetable(lessons(WEEK, "00:00", "23:59"));
  const ada = await harness.page("ada", { path: "/today" });
  const section = (name) => ada.getByRole("region", { name }).filter({ hasText: "Landforms" });
  await section("Running now").getByText("lesson 00:00–23:59, Room 12").first().waitFor();
  await assertAccessible(ada);
  // Two days from now there is a lesson, and none now. Timetables are in the time zone of the page.
  const today = await ada.evaluate(() => new Date().getDay());
  const days = (today + 2) % 7 || 7;
  await timetable(lessons([days], "10:15", "11:00"));
  await ada.reload();
  await section("Next")
    .getByText(/next lesson \w+, 10:15, Room 12/)
    .first()
    .waitFor();
  await eventually(async () => assert.equal(await section("Running now").count(), 0));
  await timetable(null);
});

scenario(
  "topics are copied into several courses with their groups, and a course into another class",
  async (harness) => {
    const api = await harness.api("ada");
    const earth = await courseOf(harness, "Our earth");
    const [subject] = (await api.get("/subjects")).filter((one) => one.name === "Geography");
    const next = await api.post("/classes", { name: "9e", academicYear: "2027/2028" });
    const target = await api.post("/courses", { name: "Earth again", classId: next.id, subjectId: subject.id });
    const page = await harness.page("ada", { path: `/courses/${earth.id}`, width: 360 });
    await page.getByRole("button", { name: /^More: Landforms/ }).click();
    await page.getByRole("menuitem", { name: "Copy…" }).click();
    const dialog = page.getByRole("dialog", { name: /^Copy “Landforms/ });
    await dialog.getByText(/9e › Geography › Earth again/).click();
    await dialog.getByRole("radio", { name: "the same groups" }).check({ force: true });
    await dialog.getByText(/creates 1 topic, \d+ groups/).waitFor();
    await dialog.getByText(/members are not in this class and are left out/).waitFor();
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Copied into 2 places.").waitFor();
    const [copy] = await api.get(`/assignments?courseId=${target.id}`);
    assert.equal(copy?.isDraft, true);
    assert.ok(copy.groupAssignments.length > 1);

    await page.goto(`/courses/${target.id}`);
    await button(page, "More: Earth again").click();
    await page.getByRole("menuitem", { name: "Copy…" }).click();
    const ofCourse = page.getByRole("dialog", { name: "Copy course Earth again" });
    await ofCourse.getByText("9e · 2027/2028").click();
    await ofCourse.getByText(/creates 1 topic/).waitFor();
    await assertAccessible(page);
    await ofCourse.getByRole("button", { name: "Copy", exact: true }).click();
    await ofCourse.waitFor({ state: "detached" });
    await eventually(async () => assert.equal((await api.get(`/courses?classId=${next.id}`)).length, 2));
  },
);
