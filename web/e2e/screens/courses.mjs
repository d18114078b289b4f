// Course folders, a course, a class.
const course = async (harness) =>
  (await (await harness.api("ada")).get("/courses")).find((one) => one.name === "Our earth");
const classId = async (harness, name) =>
  (await (await harness.api("ada")).get("/classes")).find((one) => one.name === name).id;
const tab = (name) => async (harness) => `/courses/${(await course(harness)).id}?tab=${name}`;
const part = (name) => async (harness) => `/classes/${await classId(harness, "7b")}?tab=${name}`;
const press = (name) => (page) => page.getByRole("button", { name, exact: true }).click();
const tree = { ready: "main h2" };

export default [
  { name: "Courses", who: "ada", path: "/courses", ...tree },
  { name: "Courses of the whole school", who: "admin", path: "/courses?status=ALL", ...tree },
  {
    name: "A folder without courses",
    who: "ada",
    path: async (harness) =>
      `/courses?class=${await classId(harness, "7b")}&subject=${(await (await harness.api("ada")).get("/subjects")).find((one) => one.name === "Biology").id}`,
  },
  {
    name: "A new course",
    who: "ada",
    path: "/courses",
    ...tree,
    does: (page) =>
      page
        .locator("[role=dialog]")
        .isVisible()
        .then((isOpen) => (isOpen ? undefined : press(/^(New course|Neuer Kurs)$/)(page))),
  },
  {
    name: "A new class",
    who: "admin",
    path: "/courses",
    ...tree,
    does: (page) =>
      page
        .locator("[role=dialog]")
        .isVisible()
        .then((isOpen) => (isOpen ? undefined : press(/^(New class|Neue Klasse)$/)(page))),
  },
  {
    name: "A course: topics",
    who: "ada",
    path: async (harness) => `/courses/${(await course(harness)).id}`,
    ready: "[role=tab]",
  },
  { name: "A course: groups", who: "ada", path: tab("groups"), ready: "[role=tab]" },
  { name: "A course: students", who: "ada", path: tab("students"), ready: "[role=tab]" },
  { name: "A course: files", who: "ada", path: tab("files"), ready: "[role=tab]" },
  { name: "A course of a colleague", who: "tom", path: async (harness) => `/courses/${(await course(harness)).id}` },
  { name: "A class: students", who: "ada", path: part("students"), ready: "[role=tab]" },
  { name: "A class: courses", who: "ada", path: part("courses"), ready: "[role=tab]" },
  { name: "A class: teachers", who: "admin", path: part("teachers"), ready: "[role=tab]" },
  {
    name: "A grade book",
    who: "ada",
    path: async (harness) => `/classes/${await classId(harness, "7b")}/grades`,
    ready: "main table",
  },
  { name: "A class of a colleague", who: "ada", path: async (harness) => `/classes/${await classId(harness, "8a")}` },
];
