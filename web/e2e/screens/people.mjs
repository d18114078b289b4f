// User administration: users, import, homerooms, subjects.
import { Buffer } from "node:buffer";

const LIST =
  "Vorname;Nachname;E-Mail;Klasse\r\nMaja;Weber;maja@demo.example;8x\r\nAna;Lima;ana@demo.example;\r\n;;nobody;8x\r\n";
/** An import file as a school's administration exports it. */
const give = (page) =>
  page.locator("input[type=file]").setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(LIST) });
const menu = async (page, name, index) => {
  await page
    .getByRole("button", { name: `More: ${name}` })
    .or(page.getByRole("button", { name: `Mehr: ${name}` }))
    .click();
  await page.getByRole("menuitem").nth(index).click();
};
/** Waits for a dialog that a click has opened. */
const opens = (open) => async (page) => {
  await open(page);
  await page.locator("[role=dialog], [role=alertdialog]").first().waitFor();
};
/** Creates a homeroom with one student; the demo school has none. */
const homeroom = async (harness) => {
  const api = await harness.api("admin");
  const [known] = await api.get("/homerooms?search=9c");
  if (known) return known;
  const made = await api.post("/homerooms", { name: "9c", academicYear: "2026/2027", gradeLevel: "9" });
  const students = (await api.get("/users?role=STUDENT&limit=5")).data.map((user) => user.id);
  await api.post(`/homerooms/${made.id}/students`, { studentIds: students });
  return made;
};
const rows = "[role=grid] [role=rowheader]";

export default [
  { name: "Users", who: "admin", path: "/admin/users", ready: rows },
  {
    name: "One user",
    who: "admin",
    path: async (harness) => `/admin/users?person=${(await (await harness.api("ana")).get("/users/me")).id}`,
    ready: "[role=dialog] form",
  },
  {
    name: "A user more",
    who: "admin",
    path: "/admin/users",
    ready: rows,
    does: opens((page) => page.locator("main button svg.lucide-user-plus").click()),
  },
  {
    name: "Another role",
    who: "admin",
    path: "/admin/users?search=ben",
    ready: rows,
    does: opens((page) => menu(page, "Ben Okoye", 1)),
  },
  {
    name: "A new password",
    who: "admin",
    path: "/admin/users?search=ben",
    ready: rows,
    does: opens((page) => menu(page, "Ben Okoye", 2)),
  },
  {
    name: "Somebody leaves the school",
    who: "admin",
    path: "/admin/users?search=ben",
    ready: rows,
    does: opens((page) => menu(page, "Ben Okoye", 4)),
  },
  {
    name: "Selected users",
    who: "admin",
    path: "/admin/users?role=STUDENT",
    ready: rows,
    does: async (page) => {
      for (const index of [0, 1]) await page.locator("[role=grid] label").nth(index).click();
    },
  },
  { name: "No one found", who: "admin", path: "/admin/users?search=nobody-is-called-so" },
  { name: "Import: the file", who: "admin", path: "/admin/import" },
  {
    name: "Import: the columns",
    who: "admin",
    path: "/admin/import",
    does: async (page) => {
      await give(page);
      await page.locator(rows).first().waitFor();
    },
  },
  {
    name: "Import: checked",
    who: "admin",
    path: "/admin/import",
    does: async (page) => {
      await give(page);
      await page.getByRole("button", { name: /^(Check|Prüfen)$/ }).click();
      await page.getByRole("button", { name: /problems.csv/ }).waitFor();
    },
  },
  {
    name: "Homerooms",
    who: "admin",
    path: async (harness) => (await homeroom(harness)) && "/admin/homerooms",
    ready: rows,
  },
  {
    name: "One homeroom",
    who: "admin",
    path: async (harness) => `/admin/homerooms?room=${(await homeroom(harness)).id}`,
    ready: rows,
  },
  {
    name: "Students into a homeroom",
    who: "admin",
    path: async (harness) => `/admin/homerooms?room=${(await homeroom(harness)).id}`,
    ready: rows,
    does: async (page) => {
      await page.getByRole("button", { name: /^(Add students|Personen aufnehmen)$/ }).click();
      await page.locator("[role=dialog] label").nth(3).waitFor();
    },
  },
  {
    name: "Classes from homerooms",
    who: "admin",
    path: async (harness) => (await homeroom(harness)) && "/admin/homerooms",
    ready: rows,
    does: async (page) => {
      await page.getByRole("button", { name: /^(Create classes…|Klassen anlegen …)$/ }).click();
      await page.getByRole("dialog").getByRole("listitem").first().waitFor();
    },
  },
  {
    name: "A new school year",
    who: "admin",
    path: async (harness) => (await homeroom(harness)) && "/admin/homerooms",
    ready: rows,
    does: opens((page) => page.getByRole("button", { name: /school year…|Schuljahr …/ }).click()),
  },
  { name: "Subjects", who: "admin", path: "/admin/subjects", ready: rows },
  {
    name: "One subject",
    who: "admin",
    path: "/admin/subjects",
    ready: rows,
    does: async (page) => {
      await page.getByRole("button", { name: "Biology" }).first().click();
      await page.locator("[role=dialog] form").waitFor();
    },
  },
];
