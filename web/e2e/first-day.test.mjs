// The first day of a school: from a list of people to classes with their students, and classes that follow a homeroom.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";

import { assertAccessible, scenario } from "./harness.mjs";

const ROOMS = ["3a", "3b", "3c"];
/** The most clicks from the opened import to the created classes. */
const CLICKS_MAX = 9;

const LIST = [
  "Nachname;Vorname;E-Mail-Adresse;Klasse",
  ...Array.from({ length: 57 }, (_, n) => `Neu${n};Kind;kind${n}@first-day.example;${ROOMS[n % 3]}`),
].join("\r\n");

scenario("classes are created from the homerooms of an import with few clicks", async (harness) => {
  const api = await harness.api("admin");
  const page = await harness.page("admin", { path: "/admin/import" });
  let clicks = 0;
  const click = async (locator) => {
    clicks += 1;
    await locator.click();
  };
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "liste.csv", mimeType: "text/csv", buffer: Buffer.from(LIST) });
  await click(page.getByRole("button", { name: "Check", exact: true }));
  await click(page.getByRole("button", { name: "Import 57", exact: true }));
  await page.getByRole("button", { name: "Generate 57 passwords" }).waitFor();
  await click(page.getByRole("link", { name: "Homerooms", exact: true }).first());
  await click(page.getByRole("button", { name: "Create classes…" }));
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: /^3c/ }).waitFor();
  await click(dialog.getByRole("button", { name: /Teacher where a homeroom has none/ }));
  await click(page.getByRole("option", { name: "Ada Turner" }));
  await assertAccessible(page);
  await click(dialog.getByRole("button", { name: /^Create \d+ classes?$/ }));
  await dialog.waitFor({ state: "detached" });
  assert.ok(clicks <= CLICKS_MAX, `${clicks} clicks`);
  const classes = await api.get("/classes");
  for (const name of ROOMS) {
    const made = classes.find((one) => one.name === name);
    assert.deepEqual([made?.counts.students, made?.followsHomeroom, made?.homeroom?.name], [19, true, name]);
  }

  // A student who joins the homeroom joins the class.
  const made = classes.find((one) => one.name === "3a");
  const late = await api.post("/users", { name: "Lena Late", role: "STUDENT", homeroomId: made.homeroomId });
  await page.goto(`${harness.base}/classes/${made.id}`);
  await page.getByText("3a · students follow it").waitFor();
  await page.getByText("Lena Late").waitFor();
  await page.getByRole("button", { name: "More: Lena Late" }).click();
  await page.getByRole("menuitem", { name: "Remove from the class" }).click();
  await page.getByText("This class follows its homeroom.").waitFor();
  harness.errors.length = 0;
  await api.delete(`/homerooms/${made.homeroomId}/students/${late.id}`);
  await page.getByText("Lena Late").waitFor({ state: "detached" });

  // The following is switched off and on again; the preview names who would join.
  await page.getByRole("button", { name: "More: 3a" }).click();
  await page.getByRole("menuitem", { name: "Change…" }).click();
  const form = page.getByRole("dialog");
  await form.locator("label", { hasText: "Follow the homeroom" }).click();
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  await api.post(`/homerooms/${made.homeroomId}/students`, { studentIds: [late.id] });
  assert.equal((await api.get(`/classes/${made.id}`)).counts.students, 19);
  await page.getByRole("button", { name: "More: 3a" }).click();
  await page.getByRole("menuitem", { name: "Change…" }).click();
  await form.locator("label", { hasText: "Follow the homeroom" }).click();
  await form.getByText("1 student joins the class.").waitFor();
  await assertAccessible(page);
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText("Lena Late").waitFor();
});
