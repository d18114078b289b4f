// Every screen × light and dark × wide and 320 px × English and German: axe finds no violations, nothing scrolls
// horizontally, and no target is too small.
import assert from "node:assert/strict";
import { test } from "node:test";

import { open, screens } from "./screens.mjs";
import { assertAccessible, assertNoOverflow, scenario, assertTargetSize } from "./harness.mjs";

const all = await screens();

test("screen names are unique in their area", () => {
  const names = all.map(({ area, name }) => `${area}: ${name}`);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

for (const screen of all) {
  scenario(`${screen.area}: ${screen.name} (${screen.who})`, async (harness) => {
    const page = await open(harness, screen, { reuse: true });
    await assertAccessible(page, "light");
    await assertTargetSize(page, "wide");
    await page.emulateMedia({ colorScheme: "dark" });
    await assertAccessible(page, "dark");
    await assertNoOverflow(page, "English");
    await assertAccessible(page, "dark, 320 px");
    await assertTargetSize(page, "320 px");
    await assertNoOverflow(await open(harness, screen, { language: "de", width: 320, reuse: true }), "German");
  });
}
