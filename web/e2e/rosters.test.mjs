// Rosters: an administrator adds a roster server, looks at the difference, and confirms a run that would end too many. On a
// phone, in English and German.
import assert from "node:assert/strict";
import { createServer } from "node:http";

import { assertAccessible, assertNoOverflow, scenario, until, useDemo } from "./harness.mjs";

useDemo({ env: { SIGN_ON_NETWORKS: "127.0.0.0/8" } });

const PHONE = 320;

/** A OneRoster server on a loopback port, with these users. */
async function rosterServer(users) {
  const lists = {
    orgs: () => [{ sourcedId: "O1", status: "active", name: "School", type: "school" }],
    academicSessions: () => [],
    users: () =>
      users.map((name, index) => ({
        sourcedId: `R${index}`,
        status: "active",
        enabledUser: "true",
        role: "student",
        username: "",
        givenName: name,
        familyName: "Roster",
        orgs: [{ sourcedId: "O1" }],
      })),
    classes: () => [],
    enrollments: () => [],
  };
  const server = createServer((request, response) => {
    const list = new URL(request.url, "http://127.0.0.1").pathname.split("/").at(-1);
    const offset = Number(new URL(request.url, "http://127.0.0.1").searchParams.get("offset") ?? 0);
    response.setHeader("content-type", "application/json");
    if (list === "token") response.end(JSON.stringify({ access_token: "t", token_type: "Bearer", expires_in: 3600 }));
    else if (list in lists) response.end(JSON.stringify({ [list]: lists[list]().slice(offset) }));
    else response.writeHead(404).end("{}");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const base = `http://127.0.0.1:${server.address().port}`;
  return { url: `${base}/ims/oneroster/v1p1`, tokenUrl: `${base}/token`, close: () => server.close() };
}

scenario("administrator adds a roster source and confirms who leaves", async (harness) => {
  const users = ["Rosa", "Ralf", "Rita"];
  const server = await rosterServer(users);
  const page = await harness.page("admin", { path: "/admin/import", width: PHONE });
  const section = page.getByRole("region", { name: "Rosters" });
  await section.getByRole("button", { name: "Add a roster source…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Administration");
  await dialog.getByRole("button", { name: /Protocol/ }).click();
  await page.getByRole("option", { name: "OneRoster 1.1" }).click();
  await dialog.getByRole("textbox", { name: "Address of the roster server" }).fill(server.url);
  await dialog.getByRole("textbox", { name: "Address for access tokens" }).fill(server.tokenUrl);
  await dialog.getByRole("textbox", { name: "Client ID" }).fill("groupwork");
  await dialog.getByRole("textbox", { name: "Client secret" }).fill("secret");
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await section.getByRole("button", { name: "Test the connection to Administration" }).click();
  await page.getByText("The roster server works: 3 people, 0 classes.").waitFor();
  await section.getByRole("button", { name: "Dry run of Administration" }).click();
  await section.getByText("People: 3 join").waitFor();
  await section.getByRole("button", { name: "Show the difference…" }).click();
  await page.getByRole("list", { name: "Join" }).getByText("Rosa Roster").waitFor();
  await assertAccessible(page);
  await assertNoOverflow(page);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const api = await harness.api("admin");
  const [source] = await api.get("/admin/rosters");
  await section.getByRole("button", { name: "Run now: Administration" }).click();
  await until(async () => {
    const [run] = (await api.get(`/admin/rosters/${source.id}/runs`)).data;
    return run.kind === "ON_DEMAND" && run.state === "DONE";
  }, "the run has ended");
  await section.getByText("On demand", { exact: true }).waitFor();
  await section.getByText("done", { exact: true }).waitFor();
  users.pop();
  await section.getByRole("button", { name: "Run now: Administration" }).click();
  await section.getByText("waits for you").waitFor();
  await assertAccessible(page);
  await assertNoOverflow(page);
  await section.getByRole("button", { name: "Let them leave…" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Confirm the run" }).click();
  await section.getByText("People: 0 join, 0 invited, 0 change, 1 leave, 2 unchanged").waitFor();
  await section.getByText("done", { exact: true }).waitFor();
  const found = (await api.get("/users?search=Roster")).data.map((one) => one.name);
  assert.deepEqual(found.sort(), ["Ralf Roster", "Rosa Roster"]);
  await section.getByRole("button", { name: "Runs of Administration" }).click();
  await page.getByRole("dialog").getByText("Dry run").waitFor();
  await assertNoOverflow(page);
  server.close();
});
