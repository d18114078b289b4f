// The built-in editor: two students write together, and nothing is lost when the network, the page or the server fails.
import assert from "node:assert/strict";

import {
  assertAccessible,
  assertNoOverflow,
  assertTargetSize,
  scenario,
  selectionMoved,
  TIMEOUT_MS,
  unsentText,
  until,
  useDemo,
} from "./harness.mjs";

useDemo({ editor: "builtin" });

/** Messages of the browser for requests that a scenario cuts. */
const CUT = [
  /ERR_FAILED/,
  /ERR_INTERNET_DISCONNECTED/,
  /ERR_CONNECTION_REFUSED/,
  /ERR_CONNECTION_RESET/,
  /ERR_SOCKET_NOT_CONNECTED/,
  /ERR_INCOMPLETE_CHUNKED_ENCODING/,
  /ERR_EMPTY_RESPONSE/,
  /WebSocket/,
  /status of 50\d/,
];

async function newDocument(harness, title) {
  const group = await harness.group("Rivers", "ana");
  const api = await harness.api("ana");
  const created = await api.post(`/workrooms/${group.workRoomId}/documents`, { title, documentType: "word" });
  return { id: created.id, path: `/groups/${group.id}/documents/${created.id}` };
}

async function openText(harness, who, document, options = {}) {
  const page = await harness.page(who, { ...options });
  await page.goto(document.path);
  return { page, text: await textOf(page) };
}

async function textOf(page) {
  const text = page.locator('.document[contenteditable="true"]');
  await text.waitFor();
  return text;
}

const content = async (harness, id) => {
  const { doc } = await (await harness.api("ana")).get(`/workrooms/documents/${id}/content`);
  const words = (node) => node.text ?? (node.content ?? []).map(words).join("");
  return doc.content.map(words).join("\n");
};

/** Waits until the service has a text. */
async function untilContent(harness, id, expected) {
  const end = Date.now() + TIMEOUT_MS;
  let last = "";
  while (Date.now() < end) {
    last = await content(harness, id);
    if (last === expected) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(last, expected);
}

const shows = (page, words) =>
  page.waitForFunction((wanted) => document.querySelector(".document")?.textContent?.includes(wanted), words);

scenario("two students write together and see each other", async (harness) => {
  const document = await newDocument(harness, "Together");
  const { page: ana, text } = await openText(harness, "ana", document);
  const { page: ben } = await openText(harness, "ben", document);
  await text.click();
  await ana.keyboard.type("# Our river\nAna writes **this**.");
  await shows(ben, "Ana writes this.");
  await ben.locator(".document h2").filter({ hasText: "Our river" }).waitFor();
  await ben.locator(".document strong").filter({ hasText: "this" }).waitFor();
  await ben.locator(".remote-caret").first().waitFor({ state: "attached" });
  await ben.locator(".document").click();
  await ben.keyboard.press("Control+End");
  await selectionMoved(ben);
  await ben.keyboard.type(" Ben, too.");
  await shows(ana, "Ben, too.");
  await ana.getByRole("button", { name: "Follow Ben Okoye" }).waitFor();
  // Undo takes back only own changes.
  await ana.locator(".document").press("Control+z");
  await shows(ana, "Ben, too.");
  await assertAccessible(ana);
});

/** Pages without a database keep unsent steps in the local storage alone, as in some private windows. */
const withoutDatabase = (page) =>
  page.addInitScript(() =>
    Object.defineProperty(window, "indexedDB", {
      get: () => {
        throw new DOMException("not allowed", "SecurityError");
      },
    }),
  );

const textInLocalStorage = async (page) => {
  const kept = await page.evaluate(() =>
    Object.keys(localStorage)
      .filter((key) => key.startsWith("groupwork-editor:"))
      .map((key) => localStorage.getItem(key))
      .join(""),
  );
  return [...kept.matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text).join("");
};

for (const hasDatabase of [true, false])
  scenario(
    `text typed without a network survives closing the page ${hasDatabase ? "with" : "without"} a database`,
    async (harness) => {
      const document = await newDocument(harness, hasDatabase ? "Cut" : "Cut without a database");
      const ana = await harness.page("ana", { allow: CUT });
      if (!hasDatabase) await withoutDatabase(ana);
      await ana.goto(document.path);
      const text = await textOf(ana);
      await text.click();
      await ana.keyboard.type("Before. ");
      await untilContent(harness, document.id, "Before. ");
      await ana.route("**/commits*", (route) => route.abort());
      await ana.keyboard.type("Cut.");
      const kept = hasDatabase ? unsentText : textInLocalStorage;
      await until(async () => (await kept(ana)).includes("Cut."), "the browser has stored the text");
      await ana.goto("about:blank");
      assert.equal(await content(harness, document.id), "Before. ");
      await ana.unroute("**/commits*");
      await ana.goto(document.path);
      await textOf(ana);
      await untilContent(harness, document.id, "Before. Cut.");
      await shows(ana, "Before. Cut.");
    },
  );

scenario("a commit whose response is lost is appended once", async (harness) => {
  const document = await newDocument(harness, "Once");
  const { page: ana, text } = await openText(harness, "ana", document, { allow: CUT });
  await ana.route("**/commits", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    await route.fetch();
    return route.abort();
  });
  await text.click();
  await ana.keyboard.type("only once");
  await untilContent(harness, document.id, "only once");
  await ana.unroute("**/commits");
  await ana.reload();
  await textOf(ana);
  await shows(ana, "only once");
  // The page sends what it has stored before what is typed now.
  await ana.locator(".document").press("Control+End");
  await selectionMoved(ana);
  await ana.keyboard.type("!");
  await untilContent(harness, document.id, "only once!");
});

scenario("text typed while the server is down is sent after its restart", async (harness) => {
  const document = await newDocument(harness, "Restart");
  const { page: ana, text } = await openText(harness, "ana", document, { allow: CUT });
  await text.click();
  await ana.keyboard.type("First. ");
  await untilContent(harness, document.id, "First. ");
  await harness.demo.kill();
  await ana.keyboard.type("Second.");
  await shows(ana, "Second.");
  await harness.demo.start();
  await untilContent(harness, document.id, "First. Second.");
});

scenario("submitted document is read-only for its group and readable for its teacher", async (harness) => {
  const document = await newDocument(harness, "Submitted");
  const topic = await harness.topic("Landforms");
  const { page: ana, text } = await openText(harness, "ana", document);
  await text.click();
  await ana.keyboard.type("Read this, please.");
  await untilContent(harness, document.id, "Read this, please.");
  await (await harness.api("ben")).post(`/workrooms/documents/${document.id}/submit`, { assignmentId: topic.id });
  await ana.locator('.document[contenteditable="false"]').waitFor();
  await shows(ana, "Read this, please.");
  const teacher = await harness.page("ada");
  await teacher.goto(document.path);
  await teacher.locator('.document[contenteditable="false"]').waitFor();
  await shows(teacher, "Read this, please.");
});

scenario("editor is usable by keyboard, on 320 pixels, and in German", async (harness) => {
  const document = await newDocument(harness, "Keyboard");
  const { page: ana, text } = await openText(harness, "ana", document);
  await text.click();
  await ana.keyboard.type("Title");
  await ana.keyboard.press("Alt+F10");
  await ana.waitForFunction(() => document.activeElement?.closest("[role=toolbar]") !== null);
  await ana.keyboard.press("ArrowRight");
  await ana.keyboard.press("Escape");
  await ana.waitForFunction(() => document.activeElement?.classList.contains("document"));
  await ana.keyboard.press("Control+Alt+1");
  await ana.locator(".document h2").filter({ hasText: "Title" }).waitFor();
  await ana.keyboard.press("Control+k");
  await ana.getByRole("dialog", { name: "Link" }).waitFor();
  await ana.keyboard.press("Escape");
  await ana.getByRole("button", { name: "More", exact: true }).click();
  await ana.getByRole("dialog", { name: "More", exact: true }).waitFor();
  await assertAccessible(ana);
  const phone = await harness.page("ben", { width: 320, height: 640, language: "de" });
  await phone.goto(`${document.path}?mode=edit`);
  await textOf(phone);
  await phone.getByRole("button", { name: "Fett" }).waitFor();
  await assertNoOverflow(phone);
  await assertTargetSize(phone);
  await assertAccessible(phone);
});
