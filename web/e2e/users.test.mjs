// User administration: an import from the file to the printed password, deactivating a user, and a new school year.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";

import { assertAccessible, eventually, focusIs, moveFocus, scenario } from "./harness.mjs";

const LIST = [
  "Nachname;Vorname;E-Mail-Adresse;Klasse;Haarfarbe",
  "Müller;Maja;maja@demo.example;8x;rot",
  "Lima;Ana;ana@demo.example;;braun",
  "Okoye-Berg;Ben;ben@demo.example;;",
  "Ohne;Adresse;kein-at;8x;",
  "=Formel;Otto;otto@demo.example;8y;",
].join("\r\n");

const signsIn = (harness, email, password) =>
  fetch(`${harness.base}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: harness.base },
    body: JSON.stringify({ email, password }),
  });

scenario("imported users can sign in", async (harness) => {
  const api = await harness.api("admin");
  const rooms = async () =>
    (await api.get("/homerooms")).map((room) => `${room.name}: ${room.studentCount}`).toSorted();
  const before = await rooms();
  const page = await harness.page("admin", { path: "/admin/import" });
  // As Excel on Windows writes it: semicolons as separators, and umlauts that are not UTF-8.
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "liste.csv", mimeType: "text/csv", buffer: Buffer.from(LIST, "latin1") });
  await page.getByRole("rowheader", { name: "Maja Müller" }).waitFor();
  await page.getByText("Not used: Haarfarbe").waitFor();
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByRole("button", { name: "2 new", exact: true }).waitFor();
  await page.getByRole("button", { name: "1 changed", exact: true }).waitFor();
  await page.getByRole("button", { name: "1 unchanged", exact: true }).waitFor();
  await page.getByRole("row").filter({ hasText: /^5/ }).filter({ hasText: "“kein-at” is not valid" }).waitFor();
  assert.equal((await api.get("/users?search=maja")).data.length, 0, "a dry run changes nothing");
  // 8y is a typing error in the file.
  await page.getByText("8y").click();
  await page.getByRole("button", { name: "Import 3", exact: true }).click();
  await page.getByRole("button", { name: "Generate 2 passwords" }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download passwords.csv" }).click(),
  ]);
  const lines = readFileSync(await file.path(), "utf8")
    .trim()
    .split("\r\n")
    .map((line) => line.replace("\uFEFF", "").split(","));
  assert.deepEqual(
    lines.map(([room, name, email]) => [room, name, email]),
    [
      ["Homeroom", "Name", "Email or user name"],
      ["", "Otto =Formel", "otto@demo.example"],
      ["8x", "Maja Müller", "maja@demo.example"],
    ],
  );
  assert.equal(
    (await signsIn(harness, "maja@demo.example", lines[2][3])).status,
    200,
    "the password from the file works",
  );
  assert.deepEqual(
    (await api.get("/users?search=ben%40")).data.map((user) => user.name),
    ["Ben Okoye-Berg"],
    "existing users are updated",
  );
  assert.deepEqual(
    await rooms(),
    [...before, "8x: 1"].toSorted(),
    "a new homeroom; an empty cell does not remove anyone from theirs",
  );
  // Users missing from the file stay unchanged by default; deactivating them can be undone.
  await page.getByText("Who?").click();
  await page.locator("label", { hasText: "Cleo Martin" }).click();
  await page.getByRole("button", { name: "Deactivate 1 person" }).click();
  await page.getByText("1 person is deactivated.").waitFor();
  assert.equal((await signsIn(harness, "cleo@demo.example", "groupwork-demo")).status, 401);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("1 person is active again.").waitFor();
  assert.equal((await signsIn(harness, "cleo@demo.example", "groupwork-demo")).status, 200);
});

scenario("users are found and changed by keyboard, and cannot deactivate themselves", async (harness) => {
  const page = await harness.page("admin", { path: "/admin/users" });
  await page.getByRole("searchbox").fill("finn");
  await page.waitForURL(/search=finn/);
  await page.getByRole("rowheader", { name: /Finn Jansen/ }).waitFor();
  // A table is a single tab stop; arrow keys move between rows and into their cells.
  await page.getByRole("row", { name: /Finn Jansen/ }).focus();
  await moveFocus(page, "ArrowLeft");
  await moveFocus(page, "Enter");
  // One character: further ones belong to the first only for a moment.
  await page.keyboard.type("D");
  await focusIs(page, "Deactivate");
  await page.keyboard.press("Enter");
  await page.getByText("Finn Jansen is deactivated").waitFor();
  await page
    .getByRole("row", { name: /Finn Jansen/ })
    .getByRole("gridcell", { name: "Deactivated" })
    .waitFor();
  await page.goto("/admin/users?search=admin%40");
  await page.getByRole("button", { name: "More: Admin Alvarez" }).click();
  await page.getByRole("menuitem").first().waitFor();
  await eventually(async () =>
    assert.deepEqual(
      await page.getByRole("menuitem").allTextContents(),
      ["View and edit…"],
      "users change themselves on the account page",
    ),
  );
  await page.keyboard.press("Escape");
  await page.goto("/admin/users?search=o");
  await page.getByRole("button", { name: "More: Olivia Stone" }).click();
  await page.getByRole("menuitem", { name: "Remove from the school…" }).click();
  const remove = page.getByRole("button", { name: "Remove", exact: true });
  // The name has to be typed first.
  await remove.and(page.locator(":disabled")).waitFor();
  await page.getByRole("alertdialog").getByRole("textbox").fill("Olivia Stone");
  await remove.click();
  await page.getByText("Olivia Stone is no longer in the school.").waitFor();
  await page.getByRole("button", { name: "More: Olivia Stone" }).waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.closest("[role=grid]") !== null);
});

scenario("homerooms roll over to a new school year and back", async (harness) => {
  const api = await harness.api("admin");
  const students = (await api.get("/users?role=STUDENT&limit=3")).data.map((user) => user.id);
  const others = await api.get("/homerooms?academicYear=2026/2027");
  const old = await api.post("/homerooms", { name: "9c", academicYear: "2026/2027", gradeLevel: "9" });
  await api.post(`/homerooms/${old.id}/students`, { studentIds: students });
  const page = await harness.page("admin", { path: "/admin/homerooms" });
  await page.getByRole("button", { name: "New school year…" }).click();
  await page.getByRole("textbox", { name: "New name of 9c" }).waitFor();
  await assertAccessible(page, "a new school year");
  // Unselected homerooms are not copied.
  for (const { name } of others)
    await page
      .getByRole("dialog")
      .locator("label", { hasText: new RegExp(`^${name}\\b`) })
      .click();
  await page.getByRole("button", { name: "Create 1 homeroom" }).click();
  await page.getByText("1 homeroom for 2027/2028 created.").waitFor();
  const made = async () =>
    (await api.get("/homerooms?academicYear=2027/2028")).map((room) => [room.name, room.gradeLevel, room.studentCount]);
  assert.deepEqual(await made(), [["10c", "10", 3]]);
  await page.getByRole("button", { name: "10c", exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "10c", exact: true }).waitFor({ state: "detached" });
  await eventually(async () => assert.deepEqual(await made(), []));
});

scenario("selected users are switched off together and get new passwords as slips", async (harness) => {
  const api = await harness.api("admin");
  const state = async (name) => (await api.get(`/users?search=${name}`)).data[0].isActive;
  const page = await harness.page("admin", { path: "/admin/users?role=STUDENT" });
  const names = ["Greta", "Hugo"];
  for (const name of names) await page.locator("label", { hasText: `Select ${name}` }).click();
  const bar = page.getByRole("region", { name: "Selected people" });
  await bar.getByText("2 selected").waitFor();
  await assertAccessible(page);
  await bar.getByRole("button", { name: "New password…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Generate 2 passwords" }).click();
  await dialog.getByRole("button", { name: "Print slips" }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await bar.getByRole("button", { name: "Deactivate 2 people" }).click();
  const done = page.getByRole("alertdialog").filter({ hasText: "2 people are deactivated." });
  await done.waitFor();
  assert.deepEqual([await state(names[0]), await state(names[1])], [false, false]);
  await done.getByRole("button", { name: "Undo" }).click();
  await page.getByText("2 people are active again.").waitFor();
  assert.deepEqual([await state(names[0]), await state(names[1])], [true, true]);
});
