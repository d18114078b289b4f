// Comments on a document in the built-in editor: two students discuss a passage, and a teacher comments on submitted work.
import assert from "node:assert/strict";

import {
  assertAccessible,
  assertNoOverflow,
  assertTargetSize,
  eventually,
  scenario,
  selectionMoved,
  until,
  useDemo,
} from "./harness.mjs";

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
  const middle = (wanted) => {
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
  };
  await eventually(async () => {
    const { x, y } = await page.evaluate(middle, word);
    await page.mouse.dblclick(x, y);
    assert.equal(await page.evaluate(() => getSelection()?.toString().trim()), word);
  });
  await selectionMoved(page);
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
  await selectionMoved(ana);
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
  await until(async () => {
    const content = await (await harness.api("ana")).get(`/workrooms/documents/${document.id}/content`);
    return JSON.stringify(content).includes("please.");
  }, "the service has the text");
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

scenario("student mentions a partner with the keyboard, who is notified and answers", async (harness) => {
  const document = await newDocument(harness, "Mentioned");
  const ben = await harness.page("ben", { path: "/groups" });
  await ben.getByRole("heading", { level: 1 }).waitFor();
  const ana = await harness.page("ana", { path: document.path });
  await ana.locator('.document[contenteditable="true"]').click();
  await ana.keyboard.press("Control+Alt+m");
  const field = panelOf(ana).getByRole("textbox", { name: "Comment" });
  await field.pressSequentially("Please look, @");
  const people = panelOf(ana).getByRole("listbox", { name: "People" });
  // The group and its teacher, but no other students of the class, and not Ana herself.
  await people.getByRole("option", { name: "Ben Okoye" }).waitFor();
  await people.getByRole("option", { name: /Ada/ }).waitFor();
  const names = await people.getByRole("option").allInnerTexts();
  assert.ok(!names.some((name) => name.includes("Ana Lima")), names.join());
  // The text field keeps the focus and names the active option.
  const activeName = () =>
    field.evaluate((element) => document.getElementById(element.getAttribute("aria-activedescendant"))?.innerText);
  const first = await eventually(async () => {
    const name = await activeName();
    assert.ok(name, "an option is active");
    return name;
  });
  await field.press("ArrowDown");
  await eventually(async () => assert.notEqual((await activeName()) ?? first, first));
  await field.press("ArrowUp");
  await eventually(async () => assert.equal(await activeName(), first));
  await assertAccessible(ana);
  // Esc closes the list, not the form.
  await field.press("Escape");
  await people.waitFor({ state: "detached" });
  await field.pressSequentially("ben");
  await people.getByRole("option", { name: "Ben Okoye", selected: true }).waitFor();
  await harness.screenshots("mentions");
  await field.press("Enter");
  await people.waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await field.inputValue(), "Please look, @Ben Okoye "));
  await field.pressSequentially("today");
  await panelOf(ana).getByRole("button", { name: "Comment", exact: true }).click();
  await threadOf(ana, "Ana Lima").getByText("Please look, @Ben Okoye today").waitFor();
  await threadOf(ana, "Ana Lima").locator(".mention", { hasText: "@Ben Okoye" }).waitFor();
  assert.equal(await ana.locator(".mention-mark, .mention.own").count(), 0);

  await ben.getByText("Ana Lima mentioned you in a comment on “Mentioned”.").waitFor();
  await harness.screenshots("mention-notice");
  await ben.getByRole("button", { name: "Open" }).click();
  await ben.getByRole("button", { name: "Comments: 1 mentions you" }).click();
  // The button opens the thread, not a new comment.
  const thread = threadOf(ben, "Ana Lima");
  await ben.waitForFunction(() => document.activeElement?.hasAttribute("data-thread"));
  await thread.getByText("Mentions you").waitFor();
  assert.equal(await panelOf(ben).getByRole("textbox").count(), 0);
  await thread.locator(".mention.own").waitFor();
  await assertAccessible(ben);
  await thread.getByRole("button", { name: "Reply" }).click();
  await thread.getByRole("textbox", { name: "Reply" }).fill("@Ana Lima, done. Mail: x@Ana");
  await thread.getByRole("button", { name: "Reply" }).click();
  await thread.getByText("Mentions you").waitFor({ state: "detached" });
  await ben.getByRole("button", { name: "Comments", exact: true }).waitFor();
  // A name that is typed is a mention, and stays one when the comment is edited.
  await ana.getByRole("button", { name: "Comments: 1 mentions you" }).waitFor();
  await thread.getByRole("button", { name: /comment of Ben Okoye/ }).click();
  await ben.getByRole("menuitem", { name: "Edit" }).click();
  const edited = thread.getByRole("textbox", { name: "Comment" });
  await eventually(async () => assert.equal(await edited.inputValue(), "@Ana Lima, done. Mail: x@Ana"));
  await edited.fill("@Ana Lima, all done.");
  await thread.getByRole("button", { name: "Save" }).click();
  await threadOf(ana, "Ana Lima").locator(".mention.own", { hasText: "@Ana Lima" }).waitFor();
  await threadOf(ana, "Ana Lima").getByText("@Ana Lima, all done.").waitFor();
});

scenario("student mentions a partner on a phone", async (harness) => {
  const document = await newDocument(harness, "On the way");
  const api = await harness.api("ana");
  const { mentionable } = await api.get(`/workrooms/documents/${document.id}/comments`);
  const { id } = mentionable.find(({ name }) => name === "Ben Okoye");
  await api.post(`/workrooms/documents/${document.id}/comments`, { text: `Was meinst du, @[${id}]?` });
  const phone = await harness.page("ben", { path: document.path, width: 360, height: 740, language: "de" });
  const panel = panelOf(phone, "Kommentare");
  await phone.getByRole("button", { name: "Kommentare: 1 erwähnt dich" }).click();
  await panel.getByText("Erwähnt dich").waitFor();
  await panel.locator(".mention.own").waitFor();
  await harness.screenshots("mentioned-phone");
  await panel.getByRole("button", { name: "Antworten" }).click();
  await panel.getByRole("textbox", { name: "Antworten" }).pressSequentially("@");
  const list = panel.getByRole("listbox", { name: "Personen" });
  await list.getByRole("option", { name: "Ana Lima" }).waitFor();
  // The active option is visible without scrolling.
  await eventually(async () => {
    const [option, sheet] = await Promise.all([list.getByRole("option").first().boundingBox(), panel.boundingBox()]);
    assert.ok(option.y >= sheet.y && option.y + option.height <= sheet.y + sheet.height, "the list is in the panel");
  });
  await assertNoOverflow(phone);
  await assertTargetSize(phone);
  await assertAccessible(phone);
  await harness.screenshots("mentions-phone");
  await list.getByRole("option", { name: "Ana Lima" }).click();
  await list.waitFor({ state: "detached" });
  await eventually(async () =>
    assert.equal(await panel.getByRole("textbox", { name: "Antworten" }).inputValue(), "@Ana Lima "),
  );
  const dark = await harness.page("ben", { path: document.path, width: 360, height: 740, dark: true });
  await dark.getByRole("button", { name: "Comments: 1 mentions you" }).click();
  await panelOf(dark).getByText("Mentions you").waitFor();
  await assertAccessible(dark);
  await harness.screenshots("mentioned-dark");
});
