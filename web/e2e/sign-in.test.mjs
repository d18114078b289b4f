// Pages before sign-in, failures of signing in, and the user's own account.
import assert from "node:assert/strict";

import {
  assertAccessible,
  emailOf,
  eventually,
  moveFocus,
  ready,
  rendered,
  scenario,
  signIn,
  withMailServer,
} from "./harness.mjs";

/** Waits until an element with a role, or a field with a name, has the focus. */
const focusIs = (page, wanted) =>
  page.waitForFunction(
    (one) => (document.activeElement?.getAttribute("role") ?? document.activeElement?.getAttribute("name")) === one,
    wanted,
  );

scenario("wrong password and unreachable service show different errors", async (harness) => {
  const page = await harness.page("nobody", { path: "/login", allow: [/status of 401/, /ERR_/] });
  await focusIs(page, "email");
  await signIn(page, "ana", "not my password");
  const alert = page.getByRole("alert");
  await alert.filter({ hasText: "The email address or password is incorrect." }).waitFor();
  // The error is announced, and Tab continues into the form.
  await focusIs(page, "alert");
  await assertAccessible(page);
  await page.route("**/api/auth/sign-in/email", (route) => route.abort());
  await signIn(page, "ana");
  await alert.filter({ hasText: "The service cannot be reached." }).waitFor();
  await page.unroute("**/api/auth/sign-in/email");
  await page.keyboard.press("Tab");
  await signIn(page, "ana");
  await page.waitForURL("**/groups");
});

scenario("sign-in redirects to the requested page", async (harness) => {
  const page = await harness.page("nobody", { path: "/activity?category=GROUP" });
  await page.waitForURL(/\/login/);
  await signIn(page, "ada");
  await page.waitForURL("**/activity?category=GROUP");
});

scenario("addresses of earlier versions redirect to the current ones", async (harness) => {
  const topic = await harness.topic("Landforms");
  const rivers = await harness.group("Rivers");
  const api = await harness.api("ada");
  const [document] = await api.get(`/workrooms/${rivers.workRoomId}/documents`);
  const page = await harness.page("nobody", { path: `/t/${topic.id}/board?sort=name#cards` });
  await page.waitForURL((url) => url.searchParams.get("next") === `/topics/${topic.id}/board?sort=name#cards`);
  // Links to the sign-in page name the old address, too.
  await page.goto(`/login?next=${encodeURIComponent(`/t/${topic.id}/work/${rivers.id}`)}`);
  await signIn(page, "ada");
  await page.waitForURL(`**/topics/${topic.id}/work/${rivers.id}`);
  const addresses = [
    [`/t/${topic.id}`, `/topics/${topic.id}`],
    [`/t/${topic.id}/board`, `/topics/${topic.id}/board`],
    [`/t/${topic.id}/projector`, `/topics/${topic.id}/projector`],
    [`/t/new?courseId=${topic.courseId}`, `/topics/new?courseId=${topic.courseId}`],
    [`/g/${rivers.id}?place=feedback`, `/groups/${rivers.id}?place=feedback`],
    [`/g/${rivers.id}/d/${document.id}`, `/groups/${rivers.id}/documents/${document.id}`],
  ];
  for (const [old, current] of addresses) {
    await page.goto(old);
    await page.waitForURL(({ pathname, search }) => pathname + search === current);
    await ready(page);
  }
});

scenario("account language applies in another browser", async (harness) => {
  const page = await harness.page("tom", { path: "/me", fresh: true });
  await page.getByRole("button", { name: "Account of Tom Fischer" }).click();
  const saved = page.waitForResponse(
    (answer) => answer.url().endsWith("/api/users/me") && answer.request().method() === "PATCH",
  );
  await page.getByRole("menuitem", { name: "Deutsch" }).click();
  await page.getByRole("heading", { name: "Profil und Einstellungen" }).waitFor();
  assert.equal((await saved).status(), 200);
  const other = await harness.page("nobody", { path: "/login" });
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  await signIn(other, "tom");
  await other.getByRole("link", { name: "Heute" }).first().waitFor();
  await (await harness.api("tom")).patch("/users/me", { locale: "en" });
});

scenario("password set by another user must be changed after sign-in", async (harness) => {
  const admin = await harness.api("admin");
  const { data } = await admin.get("/users?search=Mira");
  const { temporaryPassword } = await admin.post(`/users/${data[0].id}/reset-password`);
  const page = await harness.page("nobody", { path: "/login", allow: [/status of 400/] });
  await signIn(page, "mira", temporaryPassword);
  await page.getByRole("heading", { name: "Choose your own password" }).waitFor();
  await page.getByText(/reset your password on/).waitFor();
  await page.goto("/groups");
  await page.getByRole("heading", { name: "Choose your own password" }).waitFor();
  // The password that was just typed is not asked for again.
  await page.locator("input[name=current]").waitFor({ state: "detached" });
  await page.locator("input[name=password]").fill("password1234");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "too easy to guess" }).waitFor();
  await assertAccessible(page);
  await page.locator("input[name=password]").fill("seven blue whales sing");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/groups");
});

scenario(
  "student without an email address signs in with the code of a slip, then with the user name",
  async (harness) => {
    const admin = await harness.api("admin");
    const made = await admin.post("/users", { name: "Zita Zöllner", role: "STUDENT" });
    assert.equal(made.username, "zita.zoellner");
    const page = await harness.page("nobody", { path: `/slip#token=${made.slipToken}`, allow: [/status of 401/] });
    await assertAccessible(page);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Choose your own password" }).waitFor();
    // Only the new password is asked for.
    await page.locator("input[name=current]").waitFor({ state: "detached" });
    await page.locator("input[name=password]").fill("seven blue whales sing");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/groups");
    const { organization } = await admin.get("/users/me");
    await page.goto("/me");
    await page.getByText(`zita.zoellner@${organization.slug}`).waitFor();
    await page.getByText("No email address").waitFor();

    const other = await harness.page("nobody", { path: `/slip#token=${made.slipToken}`, allow: [/status of 401/] });
    await other.getByRole("button", { name: "Sign in", exact: true }).click();
    await other.getByRole("alert").filter({ hasText: "no longer works" }).waitFor();
    await other.getByRole("link", { name: "Sign in with the password" }).click();
    await other.locator("input[name=email]").fill("zita.zoellner");
    await other.locator("input[name=password]").fill("seven blue whales sing");
    await other.keyboard.press("Enter");
    await other.getByRole("alert").filter({ hasText: "ends with @" }).waitFor();
    await other.goto(`/login?org=${organization.slug}`);
    await other.locator("input[name=email]").fill("zita.zoellner");
    await other.locator("input[name=password]").fill("seven blue whales sing");
    await other.keyboard.press("Enter");
    await other.waitForURL("**/groups");
    await admin.delete(`/users/${made.id}`);
  },
);

scenario("ending other sessions keeps the current one", async (harness) => {
  const other = await harness.page("ben", { path: "/groups", fresh: true, allow: [/status of 401/] });
  const here = await harness.page("ben", { path: "/me", fresh: true });
  await here.getByRole("button", { name: "Sign out everywhere else" }).click();
  // The page in the other browser stays open for its user, but no data is accessible before signing in again.
  const dialog = other.getByRole("alertdialog", { name: "Please sign in again" });
  await dialog.waitFor();
  // Nothing behind the dialog is accessible.
  await other.waitForFunction(() => document.getElementById("root").inert);
  await other.keyboard.press("Escape");
  await rendered(other);
  assert.ok(await dialog.isVisible(), "Escape does not close it");
  for (let presses = 0; presses < 8; presses += 1) {
    await other.keyboard.press("Tab");
    await rendered(other);
    assert.ok(
      await other.evaluate(() => document.activeElement?.closest("#root") === null),
      "the focus stays in the dialog",
    );
  }
  await other.reload();
  await other.waitForURL("**/login**");
  await here.getByText("this browser").waitFor();
  await here.getByRole("button", { name: "Sign out everywhere else" }).waitFor({ state: "detached" });
  await here.waitForURL(/\/me/);
});

scenario("used reset link shows an error and a way to request a new one", async (harness) => {
  const page = await harness.page("nobody", { allow: [/status of 400/] });
  await page.goto("/api/auth/reset-password/nonsense?callbackURL=%2Freset-password");
  await ready(page);
  await page.getByRole("alert").filter({ hasText: "no longer works" }).waitFor();
  await page.getByRole("link", { name: "Ask for a new link" }).click();
  await page.getByText("This installation sends no emails.").waitFor();
  await withMailServer(page);
  await page.locator("input[name=email]").fill(emailOf("cleo"));
  await page.keyboard.press("Enter");
  await page.getByText("an email is on its way").waitFor();
});

scenario("last selected school is entered without asking", async (harness) => {
  const page = await harness.page("nobody", { path: "/login" });
  await signIn(page, "root");
  await page.getByRole("button", { name: "Demo School" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === "Demo School");
  await moveFocus(page, "Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("banner").getByText("Other School").waitFor();
  await page.getByRole("button", { name: "Account of Root Keeper" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL("**/login");
  await signIn(page, "root");
  await page.getByRole("banner").getByText("Other School").waitFor();
});

scenario("tab sends no changes to a school that a second tab selected", async (harness) => {
  const first = await harness.page("root", { path: "/courses", fresh: true, allow: [/status of 409/] });
  const school = await first.getByRole("banner").getByText("Demo School").textContent();
  const second = await first.context().newPage();
  await second.goto("/schools");
  await second.getByRole("button", { name: "Other School" }).click();
  await second.getByRole("banner").getByText("Other School").waitFor();
  const window = first.getByRole("alertdialog", { name: `This tab shows ${school}` });
  await window.getByText("You are now working in Other School").waitFor();
  await assertAccessible(first);
  await first.keyboard.press("Escape");
  await rendered(first);
  await window.waitFor();
  await window.getByRole("button", { name: "Continue in Demo School" }).click();
  await window.waitFor({ state: "detached" });
  await first.getByRole("banner").getByText("Demo School").waitFor();
  // Now the second tab is the one whose school is not the active one.
  const behind = second.getByRole("alertdialog", { name: "This tab shows Other School" });
  await behind.getByRole("button", { name: "Go to Demo School" }).click();
  await second.getByRole("banner").getByText("Demo School").waitFor();
  await behind.waitFor({ state: "detached" });
});

scenario("demo button signs in a demo user", async (harness) => {
  const page = await harness.page("nobody", { path: "/login" });
  await page.getByRole("button", { name: "Enter as student (Ana Lima)" }).click();
  await page.waitForURL("**/groups");
  await page.getByRole("button", { name: "Account of Ana Lima" }).waitFor();
});

scenario("rejected form can be corrected and sent again", async (harness) => {
  const page = await harness.page("ana", { path: "/me", allow: [/status of 400/] });
  await withMailServer(page);
  await page.getByRole("button", { name: "Change…" }).click();
  const window = page.getByRole("dialog");
  await window.locator("input[name=email]").fill("ana@lima.example");
  await window.locator("input[name=password]").fill("not my password");
  await page.keyboard.press("Enter");
  await window.getByText("This is not your password.").waitFor();
  await window.locator("input[name=password]").fill("groupwork-demo");
  await page.keyboard.press("Enter");
  await page.getByText("An email is on its way to ana@lima.example.").waitFor();
});

scenario("invited external account becomes a member by the emailed link", async (harness) => {
  const guest = "gast@demo.example";
  const root = await harness.api("root");
  await root.post("/auth/admin/create-user", {
    email: guest,
    name: "Gerda Gast",
    password: "Zirkel und Lineal",
    role: "TEACHER",
  });
  const admin = await harness.page("admin", { path: "/admin/users" });
  await admin.getByRole("button", { name: "Add a person" }).click();
  await admin.getByText("Teacher", { exact: true }).last().click();
  await admin.getByLabel("First name").fill("Gerda");
  await admin.getByLabel("Last name").fill("Gast");
  await admin.getByRole("dialog").getByLabel("Email", { exact: true }).fill(guest);
  await admin.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
  await admin.getByText("This installation sends no emails: its operator can confirm the invitation.").waitFor();
  await admin.getByRole("button", { name: "Close" }).click();
  const invited = admin.getByRole("region", { name: "Invited" });
  await invited.getByText(guest).waitFor();
  await assertAccessible(admin);
  assert.equal(
    (await (await harness.api("admin")).get("/users?search=Gerda")).data.length,
    0,
    "an invitation is not a membership",
  );

  const link = await harness.demo.link(guest);
  const page = await harness.page("nobody", { path: link.pathname + link.hash });
  await page.getByText("invites you. Your role there: Teacher.").waitFor();
  await assertAccessible(page);
  await page.getByLabel("New password").fill("Tinte auf Papier");
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.getByText("You are a member now. Sign in.").waitFor();
  await eventually(async () =>
    assert.equal((await (await harness.api("admin")).get("/users?search=Gerda")).data.length, 1),
  );
});

scenario("without a mail server no email is announced, and no sign-in without a password", async (harness) => {
  const forgot = await harness.page("nobody", { path: "/forgot" });
  await forgot.getByText("This installation sends no emails.").waitFor();
  assert.equal(await forgot.getByRole("textbox").count(), 0);
  await assertAccessible(forgot);
  const own = await harness.page("ana", { path: "/me" });
  await own.getByText("so your school has to change it").waitFor();
  assert.equal(await own.getByRole("button", { name: "Change…" }).count(), 0);
  const api = await harness.api("admin");
  const name = { firstName: "Nora", lastName: "Neu", name: "Nora Neu" };
  await api.post("/users", { ...name, email: "nora@demo.example", role: "TEACHER", sendInvite: true });
  const admin = await harness.page("admin", { path: "/admin/users?search=Nora" });
  await admin.getByText("No valid password").last().waitFor();
  assert.equal(await admin.getByText("Can sign in").count(), 0);
  await admin.getByRole("button", { name: "Add a person" }).click();
  await admin.getByRole("radio", { name: "Generate and show it" }).waitFor();
  assert.equal(await admin.getByRole("radio", { name: "Send a link by email" }).count(), 0);
});
