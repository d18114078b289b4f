// A whole lesson without a mouse, for the teacher and for a student: from the sign-in form to the finished topic. No step
// clicks; anything that cannot be reached by Tab and the listed shortcuts fails the test.
import assert from "node:assert/strict";

import { eventually, ready, rendered, scenario, selectionMoved, until } from "./harness.mjs";

const PASSWORD = "groupwork-demo";

/** Presses Tab until the focus is on the wanted element and returns the number of presses. */
async function tabTo(page, wanted, { most = 80, key = "Tab" } = {}) {
  await wanted.first().waitFor();
  for (let step = 0; step <= most; step += 1) {
    if (await wanted.evaluateAll((all) => all.includes(document.activeElement))) return step;
    await page.keyboard.press(key);
  }
  const at = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 160));
  return assert.fail(`Tab does not lead to ${wanted} within ${most} steps; it ended at ${at}`);
}

/** Asserts that the focused element has a visible focus indicator. */
async function seen(page) {
  const isOutlined = () => {
    const style = getComputedStyle(document.activeElement);
    const after = getComputedStyle(document.activeElement, "::after");
    return [style, after].some(
      (one) => (one.outlineStyle !== "none" && Number.parseFloat(one.outlineWidth) >= 2) || one.boxShadow !== "none",
    );
  };
  await eventually(async () =>
    assert.ok(
      await page.evaluate(isOutlined),
      `the focus is not visible on ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 160))}`,
    ),
  );
}

async function press(page, wanted, options) {
  await tabTo(page, wanted, options);
  await seen(page);
  await page.keyboard.press("Enter");
}

async function signIn(page, email) {
  await tabTo(page, page.locator("input[name=email]"));
  await page.keyboard.type(email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation").first().waitFor();
  await ready(page);
}

scenario("student completes a lesson by keyboard", async (harness) => {
  const rivers = await harness.group("Rivers");
  const page = await harness.page("nobody", { path: "/" });
  await signIn(page, "ana@demo.example");
  await press(page, page.locator(`a[href="/groups/${rivers.id}"]`));
  await page.getByText("Rivers").first().waitFor();
  await ready(page);

  await press(page, page.getByRole("button", { name: "Ask for help" }));
  await page.getByRole("dialog").waitFor();
  await tabTo(page, page.getByRole("dialog").getByRole("textbox"));
  await page.keyboard.type("May we use the atlas?");
  await press(page, page.getByRole("dialog").getByRole("button", { name: "Ask for help" }));
  await page
    .getByText(/Your teacher knows/)
    .first()
    .waitFor();

  await press(page, page.locator(`a[href^="/groups/${rivers.id}/documents/"]`));
  // Moves into the editor and out again: the iframe does not trap the focus.
  const text = page.frameLocator("iframe[name=frameEditor]").locator("#text");
  await text.waitFor();
  const inEditor = () => page.evaluate(() => document.activeElement?.tagName === "IFRAME");
  for (
    let step = 0;
    step < 80 && !((await inEditor()) && (await text.evaluate((field) => field === document.activeElement)));
    step += 1
  )
    await page.keyboard.press("Tab");
  await page.keyboard.press("Control+End");
  await selectionMoved(page);
  // The editor sends its changes with a delay; changes after the submission are rejected.
  const taken = page.waitForResponse(
    (answer) =>
      answer.url().endsWith("/practice/edit") && (answer.request().postData() ?? "").includes("without a mouse."),
  );
  await page.keyboard.type(" Written without a mouse.");
  await until(
    async () => (await text.inputValue()).includes("Written without a mouse."),
    "the words stand in the document",
  );
  await taken;
  for (let step = 0; step < 20 && (await inEditor()); step += 1) await page.keyboard.press("Tab");
  assert.equal(await inEditor(), false, "Tab leaves the editor");

  await press(page, page.getByRole("button", { name: /^Submit/ }), { key: "Shift+Tab" });
  await press(page, page.getByRole("dialog").getByRole("button", { name: /Submit for the group/ }));
  await page.getByRole("button", { name: "Take back" }).first().waitFor();
});

scenario("teacher runs a lesson by keyboard", async (harness) => {
  const topic = await harness.topic("Landforms");
  const page = await harness.page("nobody", { path: "/" });
  await signIn(page, "ada@demo.example");
  await press(page, page.locator(`a[href="/topics/${topic.id}/board"]`));
  await page.locator("[data-card]").first().waitFor();

  // `h` opens the longest-waiting group; Enter marks the request as handled.
  const rail = page.locator("aside");
  await rail.getByRole("button", { name: "Handled" }).first().waitFor();
  await rendered(page);
  const waiting = await rail.getByRole("button", { name: "Handled" }).count();
  await page.keyboard.press("h");
  await page.waitForFunction(() => document.activeElement?.hasAttribute("data-handled"));
  await seen(page);
  await page.keyboard.press("Enter");
  await until(
    async () => (await rail.getByRole("button", { name: "Handled" }).count()) === waiting - 1,
    "one call less waits",
  );

  // Digits and arrow keys move between cards; Enter opens the work.
  await page.keyboard.press("1");
  await until(async () => (await focused(page)) === (await cardAt(page, 0)), "1 leads to the first card");
  await page.keyboard.press("ArrowRight");
  await until(async () => (await focused(page)) === (await cardAt(page, 1)), "an arrow leads to the next card");
  await seen(page);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.pathname.endsWith("/board"));
  await ready(page);
  await page.goBack();
  await page.locator("[data-card]").first().waitFor();

  await press(page, page.getByRole("button", { name: /^Finish/ }));
  const dialog = page.getByRole("alertdialog", { name: "Finish this topic?" });
  await dialog.waitFor();
  // The harmless choice has the initial focus, so Enter selects it.
  await until(
    async () => /Cancel/.test(await page.evaluate(() => document.activeElement.textContent)),
    "the focus begins on Cancel",
  );
  await press(page, dialog.getByRole("button", { name: "Finish the topic" }));
  await page.getByRole("button", { name: "Reopen" }).waitFor();
});

const focused = (page) => page.evaluate(() => document.activeElement?.closest("[data-card]")?.dataset.card);
const cardAt = (page, index) => page.locator("[data-card]").nth(index).getAttribute("data-card");
