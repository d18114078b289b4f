// Passkeys, with a virtual authenticator of Chromium: adding one, signing in with it, the second step after the password,
// renaming and removing it; and the official client plugin of better-auth.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { build } from "vite";

import { assertAccessible, assertNoOverflow, ready, scenario, signIn, useDemo } from "./harness.mjs";

// Browsers have no passkeys for IP addresses.
useDemo({ host: "localhost" });

const PASSWORD = "groupwork-demo";
const PHONE = 320;

/** Plugs a virtual authenticator into a page that verifies its user with a fingerprint, for example. */
async function plugIn(page, { credentials = [] } = {}) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  for (const credential of credentials) {
    await devtools.send("WebAuthn.addCredential", { authenticatorId, credential });
  }
  return {
    credentials: async () => (await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    unplug: () => devtools.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId }),
  };
}

/** Opens the sign-in page without suggestions, which a virtual authenticator accepts at once, before the test uses the button. */
async function signInPage(harness, options) {
  const page = await harness.page("nobody", options);
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);
  });
  await page.goto("/login");
  await ready(page);
  return page;
}

/** The passkey of Ana, which is added in the first scenario that needs it. */
let kept;
async function addPasskey(harness) {
  const page = await harness.page("ana", { path: "/me", fresh: true, width: PHONE, allow: [/status of 40[13]/] });
  const authenticator = await plugIn(page);
  const section = page.getByRole("region", { name: "Passkeys" });
  await section.getByRole("button", { name: "Add a passkey…" }).click();
  await page.getByLabel("Name, for example the device").fill("Phone");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await section.getByText("Phone", { exact: true }).waitFor();
  await assertNoOverflow(page);
  // The same device adds no second one.
  await section.getByRole("button", { name: "Add a passkey…" }).click();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("This device has a passkey of your account already.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  kept = await authenticator.credentials();
  assert.equal(kept.length, 1);
}

scenario("student adds a passkey and signs in with it", async (harness) => {
  await addPasskey(harness);
  const other = await signInPage(harness, { width: PHONE });
  await plugIn(other, { credentials: kept });
  await assertAccessible(other);
  await other.getByRole("button", { name: "Sign in with a passkey" }).click();
  await other.waitForURL("**/groups");
});

scenario("browser suggests the passkey in the name field", async (harness) => {
  const page = await harness.page("nobody", { width: PHONE });
  if (kept === undefined) await addPasskey(harness);
  await page.addInitScript(() => {
    const get = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = (options) => {
      sessionStorage.setItem("mediation", String(options.mediation));
      return get(options);
    };
  });
  // The virtual authenticator chooses the suggestion at once, as a user would with a click.
  await plugIn(page, { credentials: await used(200) });
  await page.goto("/login");
  await page.waitForURL("**/groups");
  assert.equal(await page.evaluate(() => sessionStorage.getItem("mediation")), "conditional");
});

scenario("name field asks for suggestions and the password works beside them", async (harness) => {
  const page = await harness.page("nobody", { width: PHONE });
  // An authenticator without a passkey: the suggestions wait until the page is left.
  await plugIn(page);
  await page.goto("/login");
  await ready(page);
  await page.locator('input[name=email][autocomplete="username webauthn"]').waitFor();
  await assertAccessible(page);
  await signIn(page, "ben");
  await page.waitForURL("**/groups");
});

scenario("password asks for the passkey, or for a code", async (harness) => {
  if (kept === undefined) await addPasskey(harness);
  const page = await signInPage(harness, { width: PHONE, allow: [/status of 40[01]/] });
  await signIn(page, "ana");
  const use = page.getByRole("button", { name: "Use a passkey" });
  await use.waitFor();
  await assertAccessible(page);
  await page.getByRole("button", { name: "Use a code" }).click();
  await page.getByLabel("Recovery code").fill("aaaa-bbbb-cccc");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await plugIn(page, { credentials: await used() });
  await use.click();
  await page.waitForURL("**/groups");
  await page.goto("/me");
  await ready(page);
  const section = page.getByRole("region", { name: "Passkeys" });
  await section.getByRole("button", { name: "Rename Phone" }).click();
  await page.getByLabel("Name, for example the device").fill("Tablet");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await section.getByRole("button", { name: "Remove Tablet" }).click();
  await assertAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  await section.getByText("Tablet").waitFor({ state: "detached" });
  const after = await signInPage(harness, { allow: [/status of 401/] });
  await plugIn(after, { credentials: await used() });
  await after.getByRole("button", { name: "Sign in with a passkey" }).click();
  await after.getByText("This passkey belongs to no account any more.").waitFor();
});

/** The credential with the counter that a device has after some sign-ins. */
async function used(signIns = 300) {
  return kept.map((credential) => ({ ...credential, signCount: credential.signCount + signIns }));
}

/** Bundles the official client with its plugin for a page. */
async function officialClient() {
  const entry = fileURLToPath(new URL("../../tests/clients/passkey-page.mjs", import.meta.url));
  const [{ output }] = [
    await build({
      configFile: false,
      logLevel: "silent",
      define: { "process.env.NODE_ENV": '"production"' },
      build: { write: false, minify: false, lib: { entry, formats: ["iife"], name: "official" } },
    }),
  ].flat();
  return output[0].code;
}

scenario("official client plugin works unchanged", async (harness) => {
  const bundle = await officialClient();
  const page = await signInPage(harness, { allow: [/status of 40[0-9]/] });
  await plugIn(page);
  await page.evaluate(bundle);
  const seen = await page.evaluate(
    async ({ email, password }) => {
      const client = globalThis.officialClient;
      const told = {};
      told.stranger = (await client.passkey.addPasskey({ name: "x" })).error?.status;
      await client.signIn.email({ email, password });
      told.added = (await client.passkey.addPasskey({ name: "Laptop" })).data;
      told.twice = (await client.passkey.addPasskey({ name: "Laptop" })).error?.code;
      told.list = (await client.passkey.listUserPasskeys()).data;
      told.renamed = (await client.passkey.updatePasskey({ id: told.added.id, name: "Tablet" })).data;
      await client.signOut();
      told.signedOut = (await client.getSession()).data;
      told.signedIn = (await client.signIn.passkey()).data;
      told.session = (await client.getSession()).data;
      told.removed = (await client.passkey.deletePasskey({ id: told.added.id })).data;
      told.empty = (await client.passkey.listUserPasskeys()).data;
      await client.signOut();
      told.unknown = (await client.signIn.passkey()).error?.code;
      return told;
    },
    { email: "ben@demo.example", password: PASSWORD },
  );
  assert.equal(seen.stranger, 401);
  assert.equal(seen.added.name, "Laptop");
  assert.equal(seen.twice, "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED");
  assert.deepEqual(
    seen.list.map(({ id }) => id),
    [seen.added.id],
  );
  assert.equal(seen.renamed.passkey.name, "Tablet");
  assert.equal(seen.signedOut, null);
  assert.equal(seen.signedIn.user.email, "ben@demo.example");
  assert.equal(seen.session.session.token, seen.signedIn.session.token);
  assert.deepEqual(seen.removed, { status: true });
  assert.deepEqual(seen.empty, []);
  assert.equal(seen.unknown, "PASSKEY_NOT_FOUND");
});
