// Interruptions of a lesson: a student is moved while typing, a screen cannot be loaded, a session ends. Each time the
// page explains what happened, offers one action, and keeps the typed text.
import assert from "node:assert/strict";

import { assertAccessible, assertNoOverflow, emailOf, eventually, ready, scenario, rendered } from "./harness.mjs";

const PASSWORD = "groupwork-demo";
/** 409: a request between signing in again and selecting the school of the page. The page ignores it. */
const GONE = [/status of 40[1349]/];
const OFFLINE = [/ERR_INTERNET_DISCONNECTED/, /ERR_FAILED/, /WebSocket connection/, /status of 404/, /Unloaded/];

/** The API path of the members of a group. */
const members = (group) => `/groups/${group.id}/members`;

/** Screenshots of the page in both sizes, for reviewing changes. */
async function pictures(page, name) {
  if (process.env.GROUPWORK_PICTURES === undefined) return;
  for (const [width, height] of [
    [1366, 768],
    [360, 740],
  ]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    await page.screenshot({ path: `${process.env.GROUPWORK_PICTURES}/${name}-${width}.png` });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function signInAgain(page, who) {
  const dialog = page.getByRole("alertdialog");
  await dialog.locator("input[name=email]").fill(emailOf(who));
  await dialog.locator("input[name=password]").fill(PASSWORD);
  await dialog.locator("input[name=password]").press("Enter");
}

/** Ends every session of a user, as an administrator does. */
async function endSessions(harness, who) {
  const admin = await harness.api("admin");
  const { data } = await admin.get(`/users?search=${encodeURIComponent(emailOf(who))}`);
  const { id } = data.find((one) => one.email === emailOf(who));
  const sessions = await admin.get(`/admin/sessions?userId=${id}`);
  for (const session of sessions.data) await admin.delete(`/admin/sessions/${session.id}`);
}

/** Presses "Try again" and waits until that attempt has ended. The button ignores presses while it is busy. */
async function retryScreen(page) {
  const checked = page.waitForResponse("**/api/health/live");
  await page.locator("#main").getByRole("button", { name: "Try again" }).click();
  await checked;
  await page.waitForFunction(() => document.querySelector("#main button[data-busy]") === null);
}

for (const place of ["room", "document"]) {
  scenario(`student moved while in the ${place} is directed to the new group with unsent text`, async (harness) => {
    const ada = await harness.api("ada");
    const [rivers, deserts] = [await harness.group("Rivers"), await harness.group("Deserts")];
    const { user } = rivers.members.find((one) => one.user.name.startsWith("Ben"));
    const ben = await harness.page("ben", {
      path: `/groups/${rivers.id}`,
      allow: GONE,
      language: place === "room" ? "en" : "de",
    });
    await ben.locator("#main textarea").first().fill("We begin with the Rhine");
    if (place === "document") {
      await ben.locator(`a[href^="/groups/${rivers.id}/documents/"]`).first().click();
      await ben.waitForURL("**/documents/**");
    } else {
      await ben.getByRole("button", { name: "Ask for help" }).first().click();
      await ben.getByRole("dialog").getByRole("textbox").fill("Where is the map?");
    }
    await ada.post(`${members(rivers)}/${user.id}/move`, { toGroupId: deserts.id });
    const words =
      place === "room"
        ? { title: /You are no longer in Group \d: Rivers/, now: /You are in Group 4: Deserts now/ }
        : { title: /Du bist nicht mehr in Gruppe \d: Rivers/, now: /Du bist jetzt in Gruppe 4: Deserts/ };
    await ben.getByRole("heading", { name: words.title }).waitFor();
    await ben.getByText(words.now).first().waitFor();
    await eventually(async () => {
      const kept = await ben.locator("#main textarea").inputValue();
      assert.ok(kept.includes("We begin with the Rhine"), kept);
      if (place === "room") assert.ok(kept.includes("Where is the map?"), "text typed in a dialog is shown, too");
    });
    await eventually(async () => assert.equal(await ben.locator("#main button").count(), 1, "one button"));
    // A screen reader begins with what happened.
    await ben.waitForFunction(() => document.activeElement?.tagName === "H1");
    await assertAccessible(ben);
    await pictures(ben, `moved-${place}`);
    await assertNoOverflow(ben);
    await ben.setViewportSize({ width: 1280, height: 800 });
    // By keyboard: the button follows directly after the text in tab order.
    await ben.locator("#main button").press("Enter");
    await ben.waitForURL(`**/groups/${deserts.id}`);
    await eventually(async () =>
      assert.equal(
        await ben.locator("#main textarea").first().inputValue(),
        "We begin with the Rhine",
        "unsent text is kept",
      ),
    );
    await ben.locator("#main textarea").first().fill("");
    await ada.post(`${members(deserts)}/${user.id}/move`, { toGroupId: rivers.id });
  });
}

scenario("hidden group and removed member lead to the list of groups", async (harness) => {
  const ada = await harness.api("ada");
  const plains = await harness.group("Plains");
  const who = plains.members[0].user;
  const email = (await (await harness.api("admin")).get(`/users/${who.id}`)).email;
  const person = email.split("@")[0];
  const page = await harness.page(person, { path: `/groups/${plains.id}`, allow: GONE });
  await page.locator("#main textarea").first().fill("Not sent");
  await ada.patch(`/groups/${plains.id}`, { startDate: "2099-01-01T00:00:00Z" });
  await page.getByRole("heading", { name: /You are no longer in Group \d: Plains/ }).waitFor();
  await page.getByText("it is hidden at the moment").waitFor();
  // The teacher opens the group again: the room reappears by itself, with the typed text.
  await ada.patch(`/groups/${plains.id}`, { startDate: null });
  await page.getByRole("heading", { name: /You are no longer in Group \d: Plains/ }).waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await page.locator("#main textarea").first().inputValue(), "Not sent"));
  await ada.delete(`${members(plains)}/${who.id}`);
  await page.getByRole("heading", { name: /You are no longer in Group \d: Plains/ }).waitFor();
  await page.locator("#main").getByRole("button", { name: "My groups" }).click();
  await page.waitForURL("**/groups");
  await ada.post(members(plains), { userIds: [who.id] });
});

scenario("screen that fails to load offers a retry inside the app", async (harness) => {
  const ada = await harness.page("ada", { allow: OFFLINE });
  // Nothing is prefetched here: the code of the screen is requested when it is opened.
  await ada.route(/\/assets\/(courses|submissions)\.?[^/]*\.js/, (route) => route.abort("internetdisconnected"));
  await ada.goto("/today");
  await ready(ada);
  await ada.evaluate(() => (window.isSame = true));
  await ada.route("**/api/health/live", (route) => route.abort("internetdisconnected"));
  await ada.getByRole("link", { name: "Courses", exact: true }).first().click();
  await ada.getByRole("heading", { name: "This screen could not be loaded" }).waitFor();
  assert.equal(await ada.evaluate(() => window.isSame), true, "the page was not reloaded");
  await ada.getByRole("link", { name: "Today", exact: true }).first().waitFor();
  await assertAccessible(ada);
  await pictures(ada, "unloaded");
  await ada.locator("#main").getByRole("button", { name: "Try again" }).press("Enter");
  await ada.getByText("The service cannot be reached").waitFor();
  await ada.unroute(/\/assets\/(courses|submissions)\.?[^/]*\.js/);
  await ada.unroute("**/api/health/live");
  await retryScreen(ada);
  // Some browsers cache the failed module load, so the second attempt reloads the page. In both cases the screen opens.
  await ada
    .getByRole("heading", { name: "Courses", exact: true, level: 1 })
    .or(ada.getByRole("button", { name: "Try again" }))
    .first()
    .waitFor();
  if (await ada.getByRole("button", { name: "Try again" }).isVisible())
    await ada.getByRole("button", { name: "Try again" }).click();
  await ada.getByRole("heading", { name: "Courses", exact: true, level: 1 }).waitFor();
});

scenario("page of an old version loads the new version on retry", async (harness) => {
  const ada = await harness.page("ada", { allow: OFFLINE });
  await ada.goto("/today");
  await ready(ada);
  // The file of the old version no longer exists.
  await ada.route(/\/assets\/submissions[^/]*\.js/, (route) =>
    route.fulfill({ status: 404, contentType: "application/json", body: "{}" }),
  );
  await ada.getByRole("link", { name: "Submissions", exact: true }).first().click();
  await ada.getByRole("heading", { name: "This screen could not be loaded" }).waitFor();
  await ada.evaluate(() => (window.isSame = true));
  await retryScreen(ada);
  const loaded = ada.waitForEvent("load");
  await ada.getByRole("button", { name: "Try again" }).click();
  await loaded;
  await ada.unroute(/\/assets\/submissions[^/]*\.js/);
  await ada.reload();
  await ada.waitForURL("**/submissions");
  await ready(ada);
});

scenario("prefetched screens open without a connection", async (harness) => {
  const rivers = await harness.group("Rivers", "ana");
  const ana = await harness.page("ana", { path: "/groups", allow: [...OFFLINE, /ERR_/] });
  // Viewed once, then cached for the day.
  await ana.locator(`a[href="/groups/${rivers.id}"]`).first().click();
  await ana.waitForURL(`**/groups/${rivers.id}`);
  await ana.locator("#main textarea").first().waitFor();
  await ready(ana);
  await ana.goBack();
  await ana.waitForURL("**/groups");
  await ready(ana);
  await ana.waitForFunction(() =>
    performance.getEntriesByType("resource").some(({ name }) => /\/assets\/help\.?[^/]*\.js/.test(name)),
  );
  await ana.context().setOffline(true);
  await ana.locator(`a[href="/groups/${rivers.id}"]`).first().click();
  await ana.waitForURL(`**/groups/${rivers.id}`);
  await ana.getByText("Rivers").first().waitFor();
  assert.equal(await ana.getByRole("button", { name: "Try again" }).count(), 0, "viewed content is still shown");
  await ana.goBack();
  await ana.waitForURL("**/groups");
  await ana.locator(`a[href="/groups/${rivers.id}"]`).first().waitFor();
  await ana.context().setOffline(false);
});

scenario("signing in again after session end keeps form and chat text", async (harness) => {
  const topic = await harness.topic("Landforms");
  const page = await harness.page("ada", { path: `/topics/${topic.id}?edit=true`, fresh: true, allow: GONE });
  await page.getByRole("textbox", { name: "Title" }).fill("Landforms and rivers");
  await endSessions(harness, "ada");
  const dialog = page.getByRole("alertdialog", { name: "Please sign in again" });
  await dialog.getByText("Please sign in again").waitFor();
  await eventually(async () => assert.equal(await dialog.locator("input[name=email]").inputValue(), emailOf("ada")));
  await page.keyboard.press("Escape");
  await rendered(page);
  assert.ok(await dialog.isVisible(), "Escape does not close the dialog");
  await assertAccessible(page);
  await pictures(page, "session");
  // A wrong password shows an error and loses no data.
  await dialog.locator("input[name=password]").fill("not my password");
  await dialog.locator("input[name=password]").press("Enter");
  await dialog.getByText("The email address or password is incorrect.").waitFor();
  await signInAgain(page, "ada");
  await dialog.waitFor({ state: "detached" });
  await eventually(async () =>
    assert.equal(await page.getByRole("textbox", { name: "Title" }).inputValue(), "Landforms and rivers"),
  );
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "Landforms and rivers" }).waitFor();
  await page.getByText("Live", { exact: true }).first().waitFor();
  assert.equal((await (await harness.api("tom")).get(`/assignments/${topic.id}`)).title, "Landforms and rivers");
});

scenario("message rejected by session end is sent after signing in", async (harness) => {
  const rivers = await harness.group("Rivers", "ana");
  const page = await harness.page("ana", { fresh: true, language: "de", allow: GONE });
  // Without the realtime connection the page is not notified; it detects the ended session from its next request.
  await page.route("**/api/socket.io/**", (route) => route.abort());
  await page.routeWebSocket(/socket\.io/, (socket) => socket.close());
  await page.goto(`/groups/${rivers.id}`);
  await ready(page);
  const line = page.locator("#main textarea").first();
  await line.fill("Wer hat den Atlas?");
  await page.context().clearCookies();
  await line.press("Enter");
  const dialog = page.getByRole("alertdialog", { name: "Bitte melde dich neu an" });
  await dialog.getByText("Bitte melde dich neu an").waitFor();
  await assertAccessible(page);
  await signInAgain(page, "ana");
  await dialog.waitFor({ state: "detached" });
  await page.locator("#main").getByText("Wer hat den Atlas?").first().waitFor();
  await page.waitForFunction(() => document.querySelector("#main textarea").value === "");
  const messages = JSON.stringify(await (await harness.api("ben")).get(`/workrooms/${rivers.workRoomId}/messages`));
  assert.equal(messages.split("Wer hat den Atlas?").length - 1, 1, "once");
});

scenario("different user who signs in over the page gets a fresh page", async (harness) => {
  const rivers = await harness.group("Rivers", "ana");
  const page = await harness.page("ana", { path: `/groups/${rivers.id}`, fresh: true, allow: GONE });
  await page.locator("#main textarea").first().fill("A secret of Ana");
  await endSessions(harness, "ana");
  await page.getByRole("alertdialog", { name: "Please sign in again" }).waitFor();
  await signInAgain(page, "tom");
  await page.waitForURL("**/today");
  await ready(page);
  const all = await page.evaluate(
    () =>
      document.documentElement.outerHTML + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }),
  );
  assert.ok(!all.includes("A secret of Ana"), "nothing of the previous page is left");
});

scenario("late response of the ended session does not sign out the new session", async (harness) => {
  const rivers = await harness.group("Rivers", "admin");
  const page = await harness.page("ana", { fresh: true, allow: GONE });
  const names = (await page.context().cookies()).map(({ name }) => name);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  // The response of the service for an ended session: no user, and deleted cookies.
  await page.route(
    "**/api/auth/get-session",
    async (route) => {
      await held;
      const deleted = names.map((name) => `${name}=; Max-Age=0; Path=/`).join("\n");
      await route.fulfill({
        status: 200,
        contentType: "application/json",
        headers: { "set-cookie": deleted },
        body: "null",
      });
    },
    { times: 1 },
  );
  const asked = page.waitForRequest("**/api/auth/get-session");
  await page.goto(`/groups/${rivers.id}`);
  await asked;
  await endSessions(harness, "ana");
  const dialog = page.getByRole("alertdialog", { name: "Please sign in again" });
  await dialog.waitFor();
  const signIns = [];
  page.on("request", (request) => request.url().endsWith("/api/auth/sign-in/email") && signIns.push(request));
  await signInAgain(page, "ana");
  await dialog.getByRole("button", { name: "Signing in" }).waitFor();
  // A sign-in that did not wait for the late response would have been sent before this request.
  await page.evaluate(() => fetch("/api/health/live"));
  assert.equal(signIns.length, 0, "the sign-in waits for the late response");
  release();
  await dialog.waitFor({ state: "detached" });
  await page.reload();
  await ready(page);
  await page.waitForURL(`**/groups/${rivers.id}`);
});

scenario("sign-out in another tab clears this page", async (harness) => {
  const rivers = await harness.group("Rivers", "admin");
  const page = await harness.page("ana", { path: `/groups/${rivers.id}`, fresh: true, allow: GONE });
  const other = await page.context().newPage();
  await other.goto(`${harness.base}/groups`);
  await ready(other);
  await other.getByRole("button", { name: /^Account of/ }).click();
  await other.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL("**/login**");
  assert.equal(await page.getByRole("alertdialog").count(), 0);
});
