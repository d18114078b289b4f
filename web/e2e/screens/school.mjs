// The user's own account, the activity log, the administration of a school, and the schools of an installation.
import { withMailServer } from "../pages.mjs";

/** Waits for a dialog that a click has opened. */
const opens = (open) => async (page) => {
  await open(page);
  await page.getByRole("dialog").waitFor();
};

export default [
  { name: "The own account", who: "ada", path: "/me", ready: "main li" },
  {
    name: "A new passkey",
    who: "ana",
    path: "/me",
    ready: "main li",
    does: async (page) => {
      await page.getByRole("button", { name: /Add a passkey…|Passkey hinzufügen …/ }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "Change email address",
    who: "ana",
    path: "/me",
    ready: "main li",
    does: async (page) => {
      await withMailServer(page);
      await page.getByRole("button", { name: /Change…|Ändern …/ }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "The activity log",
    who: "admin",
    path: "/activity",
    ready: "main time",
    does: (page) => page.locator("main summary").first().click(),
  },
  { name: "The administration at a glance", who: "admin", path: "/admin", ready: "main meter" },
  { name: "The school", who: "admin", path: "/admin/organisation", ready: "main form" },
  {
    name: "A new API token",
    who: "admin",
    path: "/admin/organisation",
    ready: "main form",
    does: opens((page) => page.getByRole("button", { name: /Create a token|Token erstellen/ }).click()),
  },
  {
    name: "A new sign-on provider",
    who: "admin",
    path: "/admin/organisation",
    ready: "main form",
    does: opens((page) => page.getByRole("button", { name: /Add a provider|Anmeldedienst hinzufügen/ }).click()),
  },
  { name: "Sign-on with a product", who: "admin", path: "/admin/sign-on/KEYCLOAK", ready: "main ol" },
  {
    name: "Deleted items",
    who: "admin",
    path: async (harness) => {
      const api = await harness.api("ada");
      const { classId } = (await api.get("/courses")).find((one) => one.name === "Our earth");
      const group = await api.post("/groups", { classId, name: "Volcanoes" });
      await api.delete(`/groups/${group.id}`);
      return "/admin/deletions";
    },
    ready: "[role=grid]",
  },
  { name: "What a teacher deleted", who: "ada", path: "/courses/deleted", ready: "main h1" },
  {
    name: "People of a sign-on provider",
    who: "admin",
    path: async (harness) => {
      const admin = await harness.api("admin");
      const provider = { preset: "OTHER", issuer: "https://id.demo.example", clientId: "groupwork" };
      if ((await admin.get("/admin/sign-on")).length === 0)
        await admin.post("/admin/sign-on", { ...provider, name: "School account", clientSecret: "secret" });
      return "/admin/organisation";
    },
    ready: "main form",
    does: async (page) => {
      await page
        .getByRole("button", { name: /^(People of|Personen von)/ })
        .first()
        .click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "A new roster source",
    who: "admin",
    path: "/admin/import",
    ready: "main form, main section",
    does: async (page) => {
      await page.getByRole("button", { name: /Add a roster source|Quelle hinzufügen/ }).click();
      await page.getByRole("dialog").locator("form").waitFor();
    },
  },
  { name: "Who is signed in", who: "admin", path: "/admin/sessions", ready: "[role=grid]" },
  {
    name: "Privacy",
    who: "admin",
    path: async (harness) =>
      `/admin/privacy?userId=${(await (await harness.api("admin")).get("/users?search=Leo")).data[0].id}`,
    ready: "main h2",
  },
  { name: "The schools", who: "root", path: "/super/tenants", ready: "[role=grid]" },
  {
    name: "A new school",
    who: "root",
    path: "/super/tenants",
    ready: "[role=grid]",
    does: opens((page) => page.getByRole("button", { name: /New school|Neue Schule/ }).click()),
  },
  {
    name: "The mail domains of a school",
    who: "root",
    path: "/super/tenants",
    ready: "[role=grid]",
    does: async (page) => {
      await page.getByRole("button", { name: /: Demo School$/ }).click();
      await page.getByRole("menuitem", { name: /Mail domains|E-Mail-Domains/ }).click();
      await page.getByRole("dialog").locator("form").waitFor();
    },
  },
  { name: "The installation", who: "root", path: "/super/tenants?tab=installation", ready: "main dl" },
];
