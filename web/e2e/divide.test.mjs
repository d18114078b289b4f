// Dividing a class: cards by keys and by the menu, the way back, wishes, a number that somebody else took meanwhile.
import assert from "node:assert/strict";

import { audit, scene } from "./stage.mjs";

const open = async (stage, options = {}) => {
  const [course] = await (await stage.api("ada")).get("/courses");
  const page = await stage.page("ada", { path: `/courses/${course.id}/divide`, ...options });
  await page.locator("[data-place]").first().waitFor();
  return { page, course };
};
const group = (page, name) => page.getByRole("region", { name, exact: true });
const card = (page, place, name) => group(page, place).getByRole("row", { name });
const said = (page) => page.getByRole("region", { name: "What will be saved" }).getByRole("status");
const members = async (stage, name) => (await stage.group(name)).members.map((member) => member.user.name).toSorted();

scene("a card goes by keys alone, back again, and is saved only by the button", async (stage) => {
  const { page } = await open(stage);
  const volcanoes = await stage.group("Volcanoes");
  // Picked up by Enter, carried from group to group by Tab, put down by Enter.
  await card(page, "1 Rivers", "Ana Lima").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const over = () => page.evaluate(() => document.activeElement?.closest("[data-place]")?.getAttribute("data-place") ?? "");
  for (let step = 0; step < 30 && (await over()) !== volcanoes.id; step += 1) await page.keyboard.press("Tab");
  assert.equal(await over(), volcanoes.id, "the card can be carried to every group");
  await page.keyboard.press("Enter");
  await said(page).getByText("Ana Lima moved to 2 Volcanoes, 3 members").waitFor();
  await card(page, "2 Volcanoes", "Ana Lima").getByText("from 1 Rivers").waitFor();
  assert.deepEqual(await members(stage, "Rivers"), ["Ana Lima", "Ben Okoye"], "nothing is saved before the button");

  await page.keyboard.press("Control+z");
  await card(page, "1 Rivers", "Ana Lima").waitFor();
  assert.ok(await page.getByRole("button", { name: "Save" }).isDisabled(), "after the way back there is nothing to save");

  // By the menu of the card; whoever moves one after the other stays where he is.
  await card(page, "1 Rivers", "Ana Lima").focus();
  for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  await page.getByRole("menuitem", { name: /^2 Volcanoes/ }).press("Enter");
  await card(page, "2 Volcanoes", "Ana Lima").waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("Ben Okoye"));
  await audit(page);

  // Leaving is asked about; saving is one button.
  await page.getByRole("link", { name: "Courses" }).first().click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Stay here" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("1 change saved.").first().waitFor();
  assert.deepEqual(await members(stage, "Rivers"), ["Ben Okoye"]);
  assert.ok((await members(stage, "Volcanoes")).includes("Ana Lima"));
});

scene("new groups by lot keep two apart, and a number taken meanwhile is said at its group", async (stage) => {
  const { page, course } = await open(stage);
  const api = await stage.api("ada");
  await page.getByText("Leave out who is in a group already").click();
  await page.getByText("a number of groups").click();
  const count = page.getByRole("textbox", { name: "Groups", exact: true });
  await count.fill("2");
  await count.press("Tab");
  await page.getByRole("button", { name: "Keep apart…" }).click();
  const dialog = page.getByRole("dialog");
  for (const name of ["Ana Lima", "Cleo Martin"]) await dialog.getByText(name).click();
  await dialog.getByRole("button", { name: "Keep apart…" }).click();
  await page.getByRole("button", { name: "Shuffle" }).click();
  await said(page).getByText("2 groups of 16 students, not saved yet.").waitFor();
  const first = await page.locator('[data-group^="new"]').first().getByRole("row").allInnerTexts();
  assert.equal(first.filter((text) => /Ana Lima|Cleo Martin/.test(text)).length, 1, "the two are apart");

  const number = Number((await page.locator('[data-group^="new"]').first().getAttribute("data-group")).replace("new", ""));
  const taken = await api.post("/groups", { classId: course.classId, groupNumber: number, name: "Faster" });
  const clash = group(page, `Group ${number}`);
  await clash.getByText(`Group number ${number} exists already in this class.`).waitFor();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.waitForFunction((name) => document.activeElement?.getAttribute("aria-label") === name, `Group ${number}`);
  await clash.getByRole("button", { name: `More: Group ${number}` }).click();
  await page.getByRole("menuitem", { name: "Name and number…" }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Number" }).fill("90");
  await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("Explorers");
  await page.getByRole("dialog").getByRole("button", { name: "Take over" }).click();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("2 groups created.").first().waitFor();
  const explorers = await stage.group("Explorers");
  assert.equal(explorers.groupNumber, 90);
  assert.equal(explorers.memberCount + (await stage.group(`Group ${number + 1}`)).memberCount, 16);
  await api.delete(`/groups/${taken.id}`);
});

scene("on a phone a card goes by its menu, and nothing scrolls sideways", async (stage) => {
  const { page } = await open(stage, { width: 320, height: 640 });
  await card(page, "8 Caves", "Pablo Ruiz").getByRole("button", { name: /^More/ }).click();
  await page.getByRole("menuitem", { name: "Not in a group" }).click();
  await said(page).getByText("Pablo Ruiz taken out of 8 Caves").waitFor();
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
});

scene("of two changes the one that is refused is named and kept, the other is saved", async (stage) => {
  const { page } = await open(stage, { allow: [/status of 409/] });
  for (const [place, name] of [["4 Deserts", "Hugo Weber"], ["6 Islands", "Leo Dubois"]]) {
    await card(page, place, name).getByRole("button", { name: /^More/ }).click();
    await page.getByRole("menuitem", { name: /^5 Coasts/ }).click();
    await card(page, "5 Coasts", name).waitFor();
  }
  const refusal = { code: "STUDENT_NOT_ENROLLED", message: "This student is not in the class.", details: [] };
  await page.route("**/move", (route) => route.fulfill({ status: 409, contentType: "application/json", body: JSON.stringify(refusal) }), { times: 1 });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("1 of 2 changes could not be saved:").waitFor();
  await page.getByText("Hugo Weber, 5 Coasts: This student is not in the class any more.").waitFor();
  await page.getByText("1 change in existing groups").waitFor();
  assert.ok((await members(stage, "Coasts")).includes("Leo Dubois"));
  assert.ok((await members(stage, "Deserts")).includes("Hugo Weber"));
});
