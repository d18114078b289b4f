// Unread comments: the count at a document in the room's list changes without polling, until the comments were shown.
import { assertAccessible, assertNoOverflow, assertTargetSize, scenario, useDemo } from "./harness.mjs";

useDemo({ editor: "builtin" });

async function newDocument(harness, title) {
  const group = await harness.group("Rivers", "ana");
  const api = await harness.api("ana");
  const created = await api.post(`/workrooms/${group.workRoomId}/documents`, { title, documentType: "word" });
  const { mentionable } = await api.get(`/workrooms/documents/${created.id}/comments`);
  return {
    id: created.id,
    comments: `/workrooms/documents/${created.id}/comments`,
    list: `/groups/${group.id}?place=documents`,
    path: `/groups/${group.id}/documents/${created.id}`,
    ben: mentionable.find(({ name }) => name === "Ben Okoye").id,
  };
}

const rowOf = (page, title) => page.getByRole("link", { name: new RegExp(`${title}\\.docx`) });
const panelOf = (page, name = "Comments") => page.getByRole("complementary", { name });

scenario("student sees unread comments in the list, and reads them", async (harness) => {
  const document = await newDocument(harness, "Unread");
  const ana = await harness.api("ana");
  const ben = await harness.page("ben", { path: document.list });
  await rowOf(ben, "Unread").waitFor();
  // A comment of a partner arrives while the list is open.
  await ana.post(document.comments, { text: "Which river?" });
  await rowOf(ben, "Unread").getByText("1 new comment").waitFor();
  await ana.post(document.comments, { text: `@[${document.ben}], do you know?` });
  await rowOf(ben, "Unread").getByText("2 new comments").waitFor();
  await rowOf(ben, "Unread").getByText("Mentions you").waitFor();
  await assertAccessible(ben);
  await harness.screenshots("unread-list");
  // Another page of Ben learns that they were read here.
  const open = await harness.page("ben", { path: document.path });
  await open.getByRole("button", { name: "Comments: 1 mentions you" }).click();
  await panelOf(open).getByText("New", { exact: true }).nth(1).waitFor();
  await assertAccessible(open);
  await harness.screenshots("unread-panel");
  await rowOf(ben, "Unread").getByText("2 new comments").waitFor({ state: "detached" });
  await rowOf(ben, "Unread").getByText("Mentions you").waitFor({ state: "detached" });
  // While the panel is shown, new comments are read at once; a closed panel leaves them unread.
  await ana.post(document.comments, { text: "Or a lake?" });
  await panelOf(open).getByText("Or a lake?").waitFor();
  await panelOf(open).getByRole("button", { name: "Close the comments" }).click();
  await ana.post(document.comments, { text: "Or the sea?" });
  await rowOf(ben, "Unread").getByText("1 new comment").waitFor();
});

scenario("unread comments at the toolbar, on a phone and for the teacher", async (harness) => {
  const document = await newDocument(harness, "Noted");
  const api = await harness.api("ana");
  await api.post(document.comments, { text: "Which river?" });
  const ada = await harness.page("ada", { path: document.path });
  await ada.getByRole("button", { name: "Comments: 1 new" }).click();
  await panelOf(ada).getByText("New", { exact: true }).waitFor();
  await ada.getByRole("button", { name: "Comments", exact: true }).waitFor();
  await api.post(document.comments, { text: `Und du, @[${document.ben}]?` });
  const phone = await harness.page("ben", { path: document.list, width: 360, height: 740, language: "de" });
  await rowOf(phone, "Noted").getByText("2 neue Kommentare").waitFor();
  await rowOf(phone, "Noted").getByText("Erwähnt dich").waitFor();
  await assertNoOverflow(phone);
  await assertTargetSize(phone);
  await assertAccessible(phone);
  const dark = await harness.page("ben", { path: document.list, dark: true, language: "de" });
  await rowOf(dark, "Noted").getByText("2 neue Kommentare").waitFor();
  await assertAccessible(dark);
  const darkPhone = await harness.page("ben", { path: document.path, width: 360, height: 740, dark: true });
  await darkPhone.getByRole("button", { name: "Comments: 1 mentions you" }).waitFor();
  await harness.screenshots("unread-phone");
  await darkPhone.getByRole("button", { name: "Comments: 1 mentions you" }).click();
  await panelOf(darkPhone).getByText("New", { exact: true }).first().waitFor();
  await assertNoOverflow(darkPhone);
  await assertAccessible(darkPhone);
  await harness.screenshots("unread-phone-panel");
});

scenario("teacher sees unread comments on the board and in the work of a group", async (harness) => {
  const document = await newDocument(harness, "Asked");
  const topic = await harness.topic("Landforms");
  const group = await harness.group("Rivers");
  const ada = await harness.page("ada", { path: `/topics/${topic.id}/board` });
  const card = ada.locator(`[data-card="${group.id}"]`);
  await card.waitFor();
  await (await harness.api("ana")).post(document.comments, { text: "Is this enough?" });
  await card.getByText(/new comment/).waitFor({ state: "attached" });
  await assertAccessible(ada);
  await harness.screenshots("unread-board");
  await ada.goto(`/topics/${topic.id}/work/${group.id}`);
  await ada.getByRole("tab", { name: "Asked.docx · 1 new comment" }).waitFor();
  await harness.screenshots("unread-work");
});
