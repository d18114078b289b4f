// Administration of one school (settings, activity log, personal data) and of the installation.
import assert from "node:assert/strict";

import { assertAccessible, eventually, scenario } from "./harness.mjs";

scenario("activity log shows the latest event and filters by URL", async (harness) => {
  const group = await harness.group("Rivers", "ana");
  await (await harness.api("ana")).post(`/groups/${group.id}/help`, { message: "Which map is right?" });
  const ada = await harness.page("ada", { path: "/activity" });
  const first = ada
    .getByRole("listitem")
    .filter({ hasText: "Ana Lima asked for help in the group Rivers (7b)" })
    .first();
  await first.getByText("asked for help").click();
  await first.getByText("Which map is right?").waitFor();
  await ada.getByRole("button", { name: /^All About|About/ }).click();
  await ada.getByRole("option", { name: "Subjects" }).click();
  await ada.waitForURL("**/activity?category=SUBJECT");
  await ada.getByText("Nothing in this period.").waitFor();
  await ada.getByRole("button", { name: "Show everything" }).click();
  await first.waitFor();
  assert.equal(await ada.getByRole("button", { name: "Save as CSV" }).count(), 0, "teachers cannot export");
});

scenario("school time zone applies to users without their own", async (harness) => {
  const admin = await harness.page("admin", { path: "/admin/organisation" });
  const zone = admin.getByRole("combobox", { name: "Time zone" });
  await zone.fill("tokyo");
  await admin.getByRole("option", { name: "Asia/Tokyo" }).click();
  await admin.getByRole("button", { name: "Save" }).click();
  await admin.getByText("Saved").waitFor();
  const api = await harness.api("admin");
  try {
    assert.equal((await api.get("/admin/settings")).metadata.timezone, "Asia/Tokyo");
    const ana = await harness.page("ana", { path: "/me" });
    await ana.getByText("That of your school: Asia/Tokyo").waitFor();
  } finally {
    await api.patch("/admin/settings", { metadata: { timezone: null } });
  }
});

scenario("a program reads classes with an API token until it is revoked", async (harness) => {
  const admin = await harness.page("admin", { path: "/admin/organisation" });
  await admin.getByRole("button", { name: "Create a token" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Purpose" }).fill("Timetable program");
  await assertAccessible(admin);
  await dialog.getByRole("button", { name: "Create a token" }).click();
  const secret = await dialog.locator("code").innerText();
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  const call = () => fetch(`${harness.base}/api/classes`, { headers: { "x-api-key": secret } });
  const answer = await call();
  assert.equal(answer.status, 200);
  assert.ok((await answer.json()).length > 0);
  await admin.reload();
  const item = admin.getByRole("listitem").filter({ hasText: "Timetable program" });
  await item.getByText("Last used").waitFor();
  assert.ok(!(await item.innerText()).includes(secret));
  await item.getByRole("button", { name: "Revoke…" }).click();
  await admin.getByRole("alertdialog").getByRole("button", { name: "Revoke the token" }).click();
  await item.waitFor({ state: "detached" });
  await eventually(async () => assert.equal((await call()).status, 401));
});

scenario("user data is exported, then erased after typing the name", async (harness) => {
  const {
    data: [user],
  } = await (await harness.api("admin")).get("/users?search=Nils");
  const admin = await harness.page("admin", { path: `/admin/privacy?userId=${user.id}` });
  await admin.getByRole("button", { name: "Create archive" }).click();
  const link = admin.getByRole("link", { name: /^Download/ });
  const [file] = await Promise.all([admin.waitForEvent("download"), link.click()]);
  assert.match(file.suggestedFilename(), /\.zip$/);
  await admin.getByRole("button", { name: "Erase…" }).click();
  const window = admin.getByRole("alertdialog");
  const yes = window.getByRole("button", { name: "Erase for good" });
  await yes.waitFor();
  await yes.and(admin.locator(":disabled")).waitFor();
  await assertAccessible(admin);
  await window.getByRole("textbox").fill("Nils Larsen");
  await yes.click();
  await admin.getByText("Choose a person").waitFor();
  await eventually(async () => {
    const { data: left } = await (await harness.api("admin")).get("/users?search=Nils");
    assert.equal(left.length, 0);
  });
});

scenario("suspended school shows a notice to its users and can be reactivated", async (harness) => {
  const root = await harness.page("root", { path: "/super/tenants" });
  await root.getByRole("button", { name: "More: Other School" }).click();
  await root.getByRole("menuitem", { name: "Close…" }).click();
  await root.getByRole("button", { name: "Close the school" }).click();
  await root.getByText("Other School is closed.").waitFor();
  const zoe = await harness.page("zoe", { path: "/today", allow: [/status of 403/] });
  await zoe.getByRole("alert").filter({ hasText: "Other School is closed at the moment" }).waitFor();
  await root.getByRole("button", { name: "Undo" }).click();
  await root.getByText("Other School is open again.").waitFor();
});

scenario("school is created and its owner signs in", async (harness) => {
  const root = await harness.page("root", { path: "/super/tenants" });
  await root.getByRole("button", { name: "New school" }).click();
  const window = root.getByRole("dialog");
  await window.getByRole("textbox", { name: "Name", exact: true }).fill("Käthe-Kollwitz-Schule");
  await eventually(async () =>
    assert.equal(await window.getByRole("textbox", { name: "Short name" }).inputValue(), "kaethe-kollwitz-schule"),
  );
  await window.getByRole("textbox", { name: "Name of the owner" }).fill("Olga Owner");
  await window.getByRole("textbox", { name: "Email address of the owner" }).fill("olga@kollwitz.example");
  await window.getByRole("button", { name: "Create the school" }).click();
  const password = await window.locator("code").innerText();
  const olga = await harness.page("nobody", { path: "/login" });
  await olga.locator("input[name=email]").fill("olga@kollwitz.example");
  await olga.locator("input[name=password]").fill(password);
  await olga.keyboard.press("Enter");
  await olga.getByRole("heading", { name: "Choose your own password" }).waitFor();
});

scenario("impersonation is always visible and can be ended", async (harness) => {
  const root = await harness.page("root", { path: "/super/tenants", fresh: true });
  await root.getByRole("button", { name: "More: Demo School" }).click();
  await root.getByRole("menuitem", { name: "Members…" }).click();
  await root.getByRole("button", { name: "Act as Ana Lima" }).click();
  await root.waitForURL("**/groups");
  await root.getByText("You act as Ana Lima.").waitFor();
  await assertAccessible(root);
  await root.getByRole("button", { name: "Stop" }).click();
  await root.waitForURL("**/super/tenants");
  await root.getByRole("button", { name: "Account of Root Keeper" }).waitFor();
});

scenario("administrator adds a mail domain and sees its DNS record", async (harness) => {
  const page = await harness.page("admin", { path: "/admin/organisation", allow: [/status of 400/] });
  const part = page.getByRole("region", { name: "Mail domains" });
  await part.getByLabel("Domain").fill("gmail.com");
  await part.getByRole("button", { name: "Add the domain" }).click();
  await part.getByText("This is a public mail host").waitFor();
  await part.getByLabel("Domain").fill("@Demo-School.example");
  await part.getByRole("button", { name: "Add the domain" }).click();
  await part.getByText("not verified").waitFor();
  await part.getByText("_groupwork.demo-school.example").waitFor();
  await assertAccessible(page);
  // A platform administrator adds a domain without a DNS record.
  const root = await harness.page("root", { path: "/super/tenants" });
  await root.getByRole("button", { name: "More: Demo School" }).click();
  await root.getByRole("menuitem", { name: "Mail domains…" }).click();
  const window = root.getByRole("dialog", { name: "Mail domains of Demo School" });
  await window.getByLabel("Domain").fill("demo-school.example");
  await window.getByRole("button", { name: "Assign the domain" }).click();
  await window.getByText("verified", { exact: true }).waitFor();
  await assertAccessible(root);
  await page.reload();
  await part.getByText("Set by the operator of this installation.").waitFor();
  await part.getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove the domain" }).click();
  await part.getByText("No mail domains yet.").waitFor();
});

scenario("overview of a new school leads through people, subjects, classes and courses", async (harness) => {
  const page = await harness.page("admin");
  await page.route("**/api/admin/stats", async (route) => {
    const response = await route.fetch();
    const stats = await response.json();
    stats.users = { owner: 1, admin: 0, teacher: 2, student: 3 };
    await route.fulfill({ response, json: { ...stats, classes: 0, courses: 0 } });
  });
  await page.goto("/admin");
  const current = page.locator("[aria-current=step]");
  await current.getByText("Classes", { exact: true }).waitFor();
  await assertAccessible(page);
  await current.getByRole("link", { name: "Create a class" }).click();
  await page.waitForURL("**/courses");
  await page.unroute("**/api/admin/stats");
});

scenario("staff of a school with the formal address read Sie, students read du", async (harness) => {
  const [admin, ada, ana] = await Promise.all(
    ["admin", "ada", "ana"].map((who) => harness.page(who, { path: "/me", language: "de" })),
  );
  for (const page of [admin, ada, ana]) await page.getByText("Wo du angemeldet bist").waitFor();
  await admin.goto("/admin/organisation");
  await admin.getByText("Lehrkräfte und Verwaltung auf Deutsch mit „Sie“ ansprechen").click();
  await admin.getByRole("button", { name: "Speichern" }).click();
  await admin.getByText("Gespeichert", { exact: true }).waitFor();
  await admin.goto("/me");
  for (const page of [ada, ana]) await page.reload();
  for (const page of [admin, ada]) await page.getByText("Wo Sie angemeldet sind").waitFor();
  await ana.getByText("Wo du angemeldet bist").waitFor();
  await ada.waitForFunction(() => document.documentElement.lang === "de");
  await ada.goto("/help");
  await ada.getByText("Die Verwaltung Ihrer Schule: Sie kennt Konten, Passwörter und Klassen.").waitFor();
  const english = await harness.page("ada", { path: "/me" });
  await english.getByText("Where you are signed in").waitFor();
  await (await harness.api("admin")).patch("/admin/settings", { metadata: { features: { formalAddress: false } } });
  await ada.goto("/me");
  await ada.getByText("Wo du angemeldet bist").waitFor();
});
