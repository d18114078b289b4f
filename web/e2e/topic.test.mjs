// Topic form: creation with a file, edits for all groups and for one group, drafts that survive a reload, the lock.
import assert from "node:assert/strict";

import { assertAccessible, eventually, ready, scenario, selectionMoved, until } from "./harness.mjs";

scenario("topic is created with groups and a file, and missing fields are reported at the field", async (harness) => {
  const course = (await (await harness.api("ada")).get("/courses")).find((one) => one.name === "Our earth");
  const page = await harness.page("ada", { path: `/topics/new?courseId=${course.id}`, zone: "Europe/Berlin" });
  const next = page.getByRole("button", { name: "Next: groups and times" });
  await next.click();
  await page.getByText("A topic needs a title.").waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-invalid") === "true");
  await page.keyboard.type("Lakes and seas");
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "lakes.txt", mimeType: "text/plain", buffer: Buffer.from("Lake Constance") });
  await assertAccessible(page);
  await next.click();
  await page.getByRole("button", { name: "Create the topic" }).click();
  await page.getByText("Choose a day and a time.").waitFor();
  await page.getByRole("spinbutton").first().focus();
  await page.keyboard.type("240620301030");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Create the topic" }).click();
  await page.getByRole("link", { name: "lakes.txt" }).waitFor();
  const made = await harness.topic("Lakes and seas");
  assert.equal(made.deadline, "2030-06-24T08:30:00.000Z", "the time is in the zone of the browser");
  await eventually(async () => assert.equal((await harness.topic("Lakes and seas")).attachments.length, 1));
  assert.ok(made.groupAssignments.length > 1);
});

scenario("edits survive a reload and are saved for all groups or one group", async (harness) => {
  const topic = await harness.topic("Landforms");
  const rivers = await harness.group("Rivers");
  const page = await harness.page("ada", { path: `/topics/${topic.id}` });
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Landforms: two pages");
  await page.getByText(/^Changes the title for \d+ groups: 1 2 3/).waitFor();
  await page.getByText("a text for each group").click();
  await page.getByRole("button", { name: "1 Rivers", exact: true }).click();
  await page
    .getByRole("toolbar", { name: "Format: Text of 1 Rivers" })
    .getByRole("button", { name: "Markdown" })
    .click();
  await page.locator("textarea").last().fill("# The Rhine\n\n<b>bold</b> ![spy](https://elsewhere.example/x.png)");
  await page.getByRole("tab", { name: "Preview" }).last().click();
  await page.getByRole("heading", { name: "The Rhine" }).waitFor();
  assert.equal(
    await page.locator("main b, main img").count(),
    0,
    "HTML is shown as text, and no other origin is requested",
  );
  await assertAccessible(page);

  page.once("dialog", (dialog) => void dialog.accept());
  await page.reload();
  await ready(page);
  await page.getByText(/that was not saved/).waitFor();
  await eventually(async () =>
    assert.equal(await page.getByRole("textbox", { name: "Title" }).inputValue(), "Landforms: two pages"),
  );
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "Landforms: two pages" }).waitFor();
  const { id } = await harness.topic("Landforms: two pages");
  const saved = await (await harness.api("ada")).get(`/assignments/${id}`);
  const own = saved.groupAssignments.filter((one) => one.descriptionOverride !== null);
  assert.deepEqual(
    own.map((one) => one.groupId),
    [rivers.id],
    "only one group has a text of its own",
  );
  assert.equal(saved.isShared, false);
});

scenario("rejected file shows an error, other files are uploaded and copied to all groups", async (harness) => {
  const topic = await harness.topic("Landforms");
  const page = await harness.page("ada", { path: `/topics/${topic.id}`, allow: [/status of 415/] });
  const file = (name, text) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });
  await page
    .locator("input[type=file]")
    .setInputFiles([file("setup.exe", "MZ"), file("words.txt", "delta, mouth, spring")]);
  await page.getByRole("link", { name: "words.txt" }).waitFor();
  await page.getByRole("list", { name: "Uploads" }).getByRole("alert").waitFor();
  await page.getByRole("button", { name: "More: words.txt" }).click();
  await page.getByRole("menuitem", { name: /a copy to work on/ }).click();
  await page
    .getByText(/groups have a copy in their work rooms now/)
    .first()
    .waitFor();
  const rivers = await harness.group("Rivers", "ana");
  const room = await (await harness.api("ana")).get(`/workrooms/${rivers.workRoomId}`);
  assert.ok(
    room.documents.some((document) => document.title === "words"),
    "the copy is in the room",
  );
});

scenario(
  "draft is invisible to students until it is published, for one group later than for the others",
  async (harness) => {
    const course = (await (await harness.api("ada")).get("/courses")).find((one) => one.name === "Our earth");
    const page = await harness.page("ada", { path: `/topics/new?courseId=${course.id}` });
    await page.getByRole("textbox", { name: "Title" }).fill("Volcanoes");
    await page.keyboard.press("Enter");
    await page.getByRole("spinbutton").first().focus();
    await page.keyboard.type("240620301030");
    await page.getByRole("radio", { name: "Publish at…" }).check({ force: true });
    await page.getByText("students do not see the topic before").waitFor();
    await page.getByRole("radio", { name: "Save as draft" }).check({ force: true });
    await assertAccessible(page);
    await page.getByRole("button", { name: "Create the topic" }).click();
    await page.getByRole("heading", { level: 1, name: "Volcanoes" }).waitFor();
    await page.locator("main").getByText("Draft", { exact: true }).waitFor();
    const student = await harness.api("ana");
    const seen = async () => (await student.get("/assignments")).some((topic) => topic.title === "Volcanoes");
    assert.equal(await seen(), false, "a draft does not exist for students");

    await page.getByRole("button", { name: "More: 2 ", exact: false }).first().click();
    await page.getByRole("menuitem", { name: /^Publish for 2 / }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "not yet" }).check({ force: true });
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Publish now" }).click();
    await page.getByRole("button", { name: "Publish now" }).waitFor({ state: "detached" });
    await until(seen, "the group of the student follows the topic");
    const { id } = await harness.topic("Volcanoes");
    await eventually(async () => {
      const saved = await (await harness.api("ada")).get(`/assignments/${id}`);
      const held = saved.groupAssignments.filter((one) => one.isDraft);
      assert.deepEqual(
        held.map((one) => one.group.groupNumber),
        [2],
      );
    });
    await page.getByRole("list").getByText("Draft", { exact: true }).waitFor();
  },
);

scenario("finished topic is read-only until reopened", async (harness) => {
  const topic = await harness.topic("Landforms");
  const page = await harness.page("ada", { path: `/topics/${topic.id}` });
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByRole("button", { name: "Save" }).waitFor();
  await (await harness.api("ada")).post(`/assignments/${topic.id}/finish`);
  await page.getByText("The topic can be read, but not changed.").waitFor();
  await eventually(async () => assert.equal(await page.locator("main input, main textarea").count(), 0));
  await assertAccessible(page);
  await page.getByRole("button", { name: "Reopen" }).click();
  await page.getByText("The topic can be read, but not changed.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Save" }).waitFor();
});

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const newTopic = async (harness, options = {}) => {
  const course = (await (await harness.api("ada")).get("/courses")).find((one) => one.name === "Our earth");
  return harness.page("ada", { path: `/topics/new?courseId=${course.id}`, ...options });
};
const richText = (page) =>
  page.locator("[contenteditable=true]").and(page.getByRole("textbox", { name: "Text for all groups" }));
/** The Markdown of the text, in the text field that shows it. */
async function markdownOf(page) {
  await page.getByRole("button", { name: "Markdown" }).click();
  const text = await page.locator("textarea").inputValue();
  await page.getByRole("button", { name: "Markdown" }).click();
  await richText(page).waitFor();
  return text;
}
const paste = (text, type, content) =>
  text.evaluate(
    (element, [format, data]) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData(format, data);
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    },
    [type, content],
  );

scenario("text is written with buttons and keys, and shows its own pictures to students", async (harness) => {
  const rivers = await harness.group("Rivers");
  const page = await newTopic(harness);
  await page.getByRole("textbox", { name: "Title" }).fill("Springs");
  const text = richText(page);
  await text.fill("Find a spring");
  await text.selectText();
  await selectionMoved(page);
  const tools = page.getByRole("toolbar", { name: "Format: Text for all groups" });
  const tool = (name) => tools.getByRole("button", { name, exact: true });
  /** Waits until a button of the toolbar shows the state of the text, which then has the focus again. */
  const toolIs = async (name, isPressed) => {
    await tool(name)
      .and(page.locator(`[aria-pressed=${isPressed}]`))
      .waitFor();
    await page.waitForFunction(() => document.activeElement?.isContentEditable);
  };
  await page.keyboard.press("Control+b");
  await text.locator("strong").getByText("Find a spring").waitFor();
  await toolIs("Bold", true);
  await page.keyboard.press("End");
  await selectionMoved(page);
  await page.keyboard.press("Enter");
  // A new paragraph is not bold.
  await toolIs("Bold", false);
  await tool("List").click();
  await toolIs("List", true);
  await page.keyboard.type("by map");
  await page.keyboard.press("Enter");
  await page.keyboard.type("on foot");
  await text.getByRole("listitem").getByText("on foot").waitFor();
  await toolIs("List", true);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await toolIs("List", false);
  await page.keyboard.type("Look at ");
  await page.keyboard.press("Control+k");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Words" }).fill("a map");
  await dialog.getByRole("textbox", { name: "Address" }).fill("javascript:alert(1)");
  await page.keyboard.press("Enter");
  await dialog.getByText("Write a web address or an email address.").waitFor();
  await dialog.getByRole("textbox", { name: "Address" }).fill("maps.example/spring");
  await assertAccessible(page);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await text.getByRole("link", { name: "a map" }).waitFor();
  await tool("Picture").click();
  await dialog
    .locator("input[type=file]")
    .setInputFiles({ name: "Quelle 1.png", mimeType: "image/png", buffer: PIXEL });
  await dialog.getByRole("textbox", { name: "Description" }).fill("A spring");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Insert" }).click();
  await dialog.waitFor({ state: "detached" });
  await text.getByRole("img", { name: "A spring" }).waitFor();
  await assertAccessible(page);
  assert.equal(
    await markdownOf(page),
    "**Find a spring**\n\n- by map\n- on foot\n\nLook at [a map](https://maps.example/spring)\n\n![A spring](attachment:Quelle-1.png)",
  );
  await page.getByRole("button", { name: "Markdown" }).click();
  await page.getByRole("tab", { name: "Preview" }).click();
  await page.getByRole("img", { name: "A spring" }).waitFor();
  await page.getByRole("tab", { name: "Write" }).click();
  await page.getByRole("button", { name: "Markdown" }).click();

  // One group reads its own text after the shared one, and has a file of its own.
  await page.getByText("a text for each group").click();
  await page.getByRole("button", { name: "1 Rivers", exact: true }).click();
  await page.getByRole("textbox", { name: "Text of 1 Rivers" }).fill("Yours is the Rhine.");
  await page.getByText("Show it after the text for the others").click();
  await page.getByRole("button", { name: /Add files for/ }).click();
  await page.getByRole("option", { name: "1 Rivers" }).click();
  await page
    .locator("input[type=file]")
    .last()
    .setInputFiles({ name: "rhine.txt", mimeType: "text/plain", buffer: Buffer.from("Rhine") });
  await page.getByText("Only for 1 Rivers").waitFor();
  await page.getByRole("button", { name: "Next: groups and times" }).click();
  await page.getByRole("spinbutton").first().focus();
  await page.keyboard.type("240620301030");
  await page.getByRole("button", { name: "Create the topic" }).click();
  await page.getByRole("heading", { level: 1, name: "Springs" }).waitFor();
  await page.getByRole("link", { name: "rhine.txt" }).waitFor();
  const made = await (await harness.api("ada")).get(`/assignments/${(await harness.topic("Springs")).id}`);
  const own = made.groupAssignments.find((one) => one.groupId === rivers.id);
  assert.match(own.effectiveDescription, /Find a spring[^]*Yours is the Rhine\.$/);
  assert.equal(own.effectiveAttachments.length, 2);

  const ana = await harness.page("ana", { path: `/groups/${rivers.id}?topic=${made.id}&place=task` });
  await ana.getByText("Yours is the Rhine.").waitFor();
  await ana.getByRole("link", { name: "a map" }).waitFor();
  await ana.locator("strong").getByText("Find a spring").waitFor();
  await ana.getByRole("listitem").getByText("on foot").waitFor();
  const picture = ana.getByRole("img", { name: "A spring" });
  await picture.waitFor();
  await ana.waitForFunction(() => document.querySelector("img[alt='A spring']").naturalWidth === 1);
  await assertAccessible(ana);
});

scenario("opened text is not changed, keeps what the editor cannot show, and undo returns to it", async (harness) => {
  const ada = await harness.api("ada");
  const { classId, courseId, id: group } = await harness.group("Rivers");
  const more = { title: "Wells", classId, courseId, deadline: "2099-01-10T10:00:00Z", groupIds: [group] };
  const topic = await ada.post("/assignments", more);
  const source =
    "Setext\n===\n\n* one\n* [two][ref]\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<div>raw</div>\n\n[ref]: https://maps.example";
  const { version } = await ada.get(`/assignments/${topic.id}`);
  await ada.patch(`/assignments/${topic.id}`, { description: source, version });
  const page = await harness.page("ada", { path: `/topics/${topic.id}?edit=true` });
  const text = page.locator("[contenteditable=true]").first();
  await text.getByText("<div>raw</div>").waitFor();
  const save = page.getByRole("button", { name: "Save" });
  // Opening is no change.
  await save.and(page.locator(":disabled")).waitFor();
  await assertAccessible(page);
  await text.getByText("Setext").click();
  await page.keyboard.press("End");
  await selectionMoved(page);
  await page.keyboard.type("!");
  await save.and(page.locator(":enabled")).waitFor();
  await page.getByRole("button", { name: "Undo" }).and(page.locator(":enabled")).waitFor();
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => document.querySelector("main button[type=submit]").disabled);
  await page.keyboard.type("!");
  await page.getByRole("button", { name: "Markdown" }).click();
  await eventually(async () =>
    assert.equal(await page.locator("textarea").first().inputValue(), source.replace("Setext\n===", "# Setext!")),
  );
});

scenario("pasted text keeps what Markdown has; pasted Markdown is text; keys reach the toolbar", async (harness) => {
  const page = await newTopic(harness);
  const text = richText(page);
  await text.focus();
  await paste(
    text,
    "text/html",
    '<h1 style="color:red">Title</h1><p>A <b>bold</b> <u>word</u>, <a href="https://a.example">link</a>, <a href="javascript:x">none</a><img src="https://spy.example/x.png"></p><ul><li>one</li></ul><table><tr><td>a</td><td>b</td></tr></table><script>x</script>',
  );
  assert.equal(await markdownOf(page), "# Title\n\nA **bold** word, [link](https://a.example), none\n\n- one\n\na – b");
  await text.fill("");
  await page.keyboard.press("Control+Alt+0");
  await paste(text, "text/plain", "**no** bold");
  await text.getByText("**no** bold").waitFor();
  assert.equal(await markdownOf(page), String.raw`\*\*no\*\* bold`);
  await page.keyboard.press("Alt+F10");
  await page.waitForFunction(() => document.activeElement?.closest("[role=toolbar]") !== null);
  await page.keyboard.press("ArrowRight");
  await page.getByRole("tooltip").waitFor();
  // The first Escape closes the tooltip.
  await page.keyboard.press("Escape");
  await page.getByRole("tooltip").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await eventually(async () => assert.ok(await text.evaluate((element) => element === document.activeElement)));
  await paste(text, "text/plain", "x".repeat(20_001));
  await page.getByRole("alert").getByText("The text would be longer than").waitFor();
  await eventually(async () => assert.equal(await text.getAttribute("aria-invalid"), "true"));
  await assertAccessible(page);
});

scenario("text is written as Markdown while the editor cannot be loaded", async (harness) => {
  const page = await newTopic(harness, { path: "/today", allow: [/Failed to load resource|ERR_FAILED/] });
  await page.route(/RichTextEditor-/, (route) => route.abort());
  const course = (await (await harness.api("ada")).get("/courses")).find((one) => one.name === "Our earth");
  await page.goto(`/topics/new?courseId=${course.id}`);
  await page.getByText("The editor could not be loaded.").waitFor();
  const text = page.getByRole("textbox", { name: "Text for all groups" });
  await text.fill("Typed *offline*");
  await page.unroute(/RichTextEditor-/);
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await page.getByRole("textbox", { name: "Title" }).focus();
  await richText(page).locator("em").getByText("offline").waitFor();
});
