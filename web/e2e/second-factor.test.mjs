// Second factors: setting one up, signing in with a code and with a recovery code, the requirement of a school, and the
// removal by an administrator.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";

import { assertAccessible, ready, scenario, signIn } from "./harness.mjs";
const PASSWORD = "groupwork-demo";
const PHONE = 320;

/** The code of an authenticator app (RFC 6238) for a secret in base32, some steps from now. */
function code(secret, steps = 0) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const digest = createHmac("sha1", key).update(counter).digest();
  const word = digest.readUInt32BE(digest[19] & 15) & 0x7fffffff;
  return String(word % 1_000_000).padStart(6, "0");
}

/** A code that is not accepted: no app shows it within two steps from now. */
function wrongCode(secret) {
  const shown = [-2, -1, 0, 1, 2].map((steps) => code(secret, steps));
  for (let number = 0; ; number += 1) {
    const wrong = String(number).padStart(6, "0");
    if (!shown.includes(wrong)) return wrong;
  }
}

/** Goes through the setup in a page, or in its dialog. Returns the secret and the recovery codes. */
async function setUp(page, form = page) {
  await form.locator("input[name=password]").fill(PASSWORD);
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
  await assertAccessible(page);
  const secret = (await page.locator("code").first().innerText()).replaceAll(" ", "");
  await page.getByLabel("Code with six digits").fill(wrongCode(secret));
  await page.getByRole("button", { name: "Check the code" }).click();
  await page.getByText("That code is incorrect or was already used.").waitFor();
  await page.getByLabel("Code with six digits").fill(code(secret));
  await page.getByRole("button", { name: "Check the code" }).click();
  await page.getByText("Your second factor is on.").waitFor();
  const codes = await page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem").allInnerTexts();
  assert.equal(codes.length, 10);
  await assertAccessible(page);
  await page.getByRole("button", { name: "I have saved them" }).click();
  return { secret, codes };
}

/** The second factor of Ana, who sets it up in the first scenario that needs it. */
let ana;
async function setUpAna(harness) {
  const page = await harness.page("ana", { path: "/me", fresh: true, width: PHONE, allow: [/status of 401/] });
  await page.getByRole("button", { name: "Set up…" }).click();
  ana = await setUp(page, page.getByRole("alertdialog"));
  return page;
}

scenario("student sets up a second factor and signs in with code and recovery code", async (harness) => {
  const page = await setUpAna(harness);
  const section = page.getByRole("region", { name: "Second factor" });
  await section.getByText("On", { exact: true }).waitFor();

  const other = await harness.page("nobody", { path: "/login", width: PHONE, allow: [/status of 401/] });
  await signIn(other, "ana");
  const field = other.getByLabel("Code with six digits");
  await field.waitFor();
  await assertAccessible(other);
  await field.fill(wrongCode(ana.secret));
  await other.keyboard.press("Enter");
  await other.getByRole("alert").filter({ hasText: "That code is incorrect" }).waitFor();
  // Not the code of the setup, and valid until the one after the next: the service accepts a neighbouring code.
  await field.fill(code(ana.secret, 1));
  await other.getByText("Do not ask again in this browser for 30 days").click();
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.waitForURL("**/groups");

  const third = await harness.page("nobody", { path: "/login" });
  await signIn(third, "ana");
  await third.getByRole("button", { name: "Use a recovery code" }).click();
  await third.getByLabel("Recovery code").fill(ana.codes[0].toUpperCase());
  await third.getByRole("button", { name: "Sign in" }).click();
  await third.waitForURL("**/groups");
});

scenario("second factor is removed with the password", async (harness) => {
  if (ana === undefined) await setUpAna(harness);
  const page = await harness.page("nobody", { path: "/login" });
  await signIn(page, "ana");
  await page.getByRole("button", { name: "Use a recovery code" }).click();
  await page.getByLabel("Recovery code").fill(ana.codes[1]);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/groups");
  await page.goto("/me");
  await ready(page);
  const section = page.getByRole("region", { name: "Second factor" });
  await section.getByRole("button", { name: "New recovery codes…" }).click();
  await page.getByRole("alertdialog").locator("input[name=password]").fill(PASSWORD);
  await page.getByRole("button", { name: "Show new codes" }).click();
  await page.getByRole("list", { name: "Recovery codes" }).waitFor();
  await page.getByRole("button", { name: "I have saved them" }).click();
  await section.getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("dialog").locator("input[name=password]").fill(PASSWORD);
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await section.getByRole("button", { name: "Set up…" }).waitFor();
});

scenario("school requires a second factor of its staff, and an administrator removes one", async (harness) => {
  const admin = await harness.page("admin", { path: "/admin/organisation", allow: [/status of 403/, /status of 401/] });
  await admin.getByText("Administrators", { exact: true }).click();
  const saved = admin.waitForResponse((answer) => answer.url().endsWith("/api/admin/settings") && answer.ok());
  await admin.getByRole("button", { name: "Save" }).first().click();
  await saved;
  await admin.waitForURL("**/second-factor");
  await admin.getByText("has to be protected by a second factor").waitFor();
  await assertAccessible(admin);
  await setUp(admin);
  await admin.waitForURL(/\/(today|admin|$)/);
  await admin.goto("/admin/users?search=" + encodeURIComponent("Ada"));
  await ready(admin);

  const api = await harness.api("ada");
  assert.equal((await api.get("/users/me")).hasSecondFactor, false, "teachers are not required");
  const teacher = await harness.page("ada", { path: "/me", fresh: true, allow: [/status of 401/] });
  await teacher.getByRole("button", { name: "Set up…" }).click();
  await setUp(teacher, teacher.getByRole("alertdialog"));
  await admin.reload();
  await ready(admin);
  await admin.getByRole("button", { name: /^More: Ada/ }).click();
  await admin.getByRole("menuitem", { name: "Remove second factor…" }).click();
  await assertAccessible(admin);
  await admin.getByRole("button", { name: "Remove second factor", exact: true }).click();
  await admin.getByText(/^The second factor of Ada .* was removed\.$/).waitFor();
  const again = await harness.page("nobody", { path: "/login" });
  await signIn(again, "ada");
  await again.getByRole("link", { name: "Today" }).first().waitFor();
});
