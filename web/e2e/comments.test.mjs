// Comments on a document in the built-in editor: two students discuss a passage, and a teacher comments on submitted work.
import { assertAccessible, assertNoOverflow, assertTargetSize, scenario, useDemo } from "./harness.mjs";

useDemo({ editor: "builtin" });

async function newDocument(harness, title) {
  const group = await harness.group("Rivers", "ana");
  const api = await harness.api("ana");
  const created = await api.post(`/workrooms/${group.workRoomId}/documents`, { title, documentType: "word" });
  return { id: created.id, path: `/groups/${group.id}/documents/${created.id}` };
}

const panelOf = (page, name = "Comments") => page.getByRole("complementary", { name });
const threadOf = (page, name) => panelOf(page).getByRole("listitem", { name: `Comment of ${name}` });

/** Selects a word of the document by double-clicking it. */
async function selectWord(page, word) {
  const box = await page.evaluate((wanted) => {
    const walker = document.createTreeWalker(document.querySelector(".document"), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf(wanted);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    }
    return null;
  }, word);
  await page.mouse.dblclick(box.x, box.y);
  await page.waitForFunction((wanted) => getSelection()?.toString().trim() === wanted, word);
}

scenario("two students comment on a passage, reply and resolve", async (harness) => {
  const document = await newDocument(harness, "Discussed");
  const ana = await harness.page("ana");
  await ana.goto(document.path);
  await ana.locator('.document[contenteditable="true"]').click();
  await ana.keyboard.type("The river flows to the sea.");
  const ben = await harness.page("ben");
  await ben.goto(document.path);
  await ben.locator(".document").filter({ hasText: "to the sea." }).waitFor();
  await selectWord(ben, "river");
  await ben.keyboard.press("Control+Alt+m");
  await panelOf(ben).getByRole("textbox", { name: "Comment" }).fill("Which one?");
  await panelOf(ben).getByRole("button", { name: "Comment", exact: true }).click();
  await threadOf(ben, "Ben Okoye").getByText("Which one?").waitFor();
  await ben.locator(".document .commented").filter({ hasText: "river" }).waitFor();
  // Ana sees the highlight without loading the page again, and opens its thread.
  const highlight = ana.locator(".document .commented").filter({ hasText: "river" });
  await highlight.waitFor();
  await ana.locator(".document").press("Control+Home");
  await ana.keyboard.type("Look: ");
  await highlight.click();
  const thread = threadOf(ana, "Ben Okoye");
  await thread.waitFor();
  await ana.waitForFunction(() => document.activeElement?.hasAttribute("data-thread"));
  await assertAccessible(ana);
  await thread.getByRole("button", { name: "Reply" }).click();
  await thread.getByRole("textbox", { name: "Reply" }).fill("The Spree.");
  await thread.getByRole("button", { name: "Reply" }).click();
  await threadOf(ben, "Ben Okoye").getByText("The Spree.").waitFor();
  // The quote leads to the passage, which has moved.
  await thread.getByRole("button", { name: "river" }).click();
  await ana.waitForFunction(() => document.activeElement?.classList.contains("document"));
  await ana.keyboard.type("wide ");
  await ana.locator(".document").filter({ hasText: "Look: The wide river" }).waitFor();
  await threadOf(ben, "Ben Okoye").getByRole("button", { name: "Resolve" }).click();
  await ana.locator(".document .commented").waitFor({ state: "detached" });
  await panelOf(ana).getByText("No open comments.").waitFor();
  await panelOf(ana).getByRole("radio", { name: "Resolved" }).click();
  await thread.getByText("Resolved by Ben Okoye").waitFor();
  await thread.getByRole("button", { name: "Reopen" }).click();
  await ben.locator(".document .commented").filter({ hasText: "river" }).waitFor();
  await ana.keyboard.press("Escape");
});

scenario("teacher comments on a submitted document, and the group reads it", async (harness) => {
  const document = await newDocument(harness, "Corrected");
  const topic = await harness.topic("Landforms");
  const ana = await harness.page("ana");
  await ana.goto(document.path);
  await ana.locator('.document[contenteditable="true"]').click();
  await ana.keyboard.type("Read this, please.");
  await ana.waitForTimeout(1_000);
  await (await harness.api("ben")).post(`/workrooms/documents/${document.id}/submit`, { assignmentId: topic.id });
  await ana.locator('.document[contenteditable="false"]').filter({ hasText: "please." }).waitFor();
  const ada = await harness.page("ada");
  await ada.goto(document.path);
  await ada.locator('.document[contenteditable="false"]').filter({ hasText: "please." }).waitFor();
  await selectWord(ada, "this");
  await ada.getByRole("button", { name: "Comments" }).click();
  await panelOf(ada).getByRole("textbox", { name: "Comment" }).fill("What exactly?");
  await panelOf(ada).getByRole("button", { name: "Comment", exact: true }).click();
  await ada.locator(".document .commented").filter({ hasText: "this" }).waitFor();
  const highlight = ana.locator(".document .commented").filter({ hasText: "this" });
  await highlight.click();
  const first = panelOf(ana).locator("[data-thread]").first();
  await first.getByText("What exactly?").waitFor();
  // The group reads, but does not change what is submitted.
  await first.getByRole("button", { name: "Reply" }).waitFor({ state: "detached" });
  await assertAccessible(ana);
  const phone = await harness.page("ben", { width: 360, height: 740, language: "de" });
  await phone.goto(document.path);
  await phone.locator(".document .commented").first().waitFor();
  await phone.getByRole("button", { name: "Kommentare" }).click();
  await panelOf(phone, "Kommentare").getByText("What exactly?").waitFor();
  await assertNoOverflow(phone);
  await assertTargetSize(phone);
  await assertAccessible(phone);
  await harness.screenshots("comments-phone");
});
