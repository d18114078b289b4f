// Maintenance mode: it is announced on open pages, forms keep what was typed, and it ends without a reload.
import { assertAccessible, assertNoOverflow, scenario, until } from "./harness.mjs";

const MESSAGE = "We are back at 18:00.";

/** Waits until the service has noticed a change of the mode. */
const untilMaintenance = (harness, isOn) =>
  until(
    async () => {
      const response = await fetch(`${harness.demo.base}/api/health`);
      const { maintenance } = await response.json();
      return (maintenance !== null) === isOn;
    },
    `maintenance is ${isOn ? "on" : "off"}`,
  );

scenario("form keeps its text during maintenance and is saved afterwards without a reload", async (harness) => {
  const admin = await harness.page("admin", { path: "/admin/subjects", allow: [/status of 503/] });
  await admin.getByRole("button", { name: "Add a subject" }).click();
  const dialog = admin.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Astronomy");
  await harness.demo.command("maintenance", "on", "--message", MESSAGE);
  await untilMaintenance(harness, true);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("nothing can be changed now").waitFor();
  await admin.getByText(MESSAGE).waitFor();
  await assertAccessible(admin);
  if (process.env.GROUPWORK_PICTURES !== undefined) {
    for (const [width, height] of [
      [1366, 768],
      [360, 740],
    ]) {
      await admin.setViewportSize({ width, height });
      await admin.screenshot({ path: `${process.env.GROUPWORK_PICTURES}/maintenance-${width}.png` });
    }
    await admin.setViewportSize({ width: 1280, height: 800 });
  }
  await harness.demo.command("maintenance", "off");
  await untilMaintenance(harness, false);
  await admin.getByText(MESSAGE).waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await admin.getByRole("row", { name: /Astronomy/ }).waitFor();
});

scenario("sign-in page announces maintenance and signs in", async (harness) => {
  await harness.demo.command("maintenance", "on", "--message", MESSAGE);
  await untilMaintenance(harness, true);
  const guest = await harness.page("nobody", { path: "/login", language: "de" });
  await guest.getByRole("region", { name: "Wartung" }).getByText(MESSAGE).waitFor();
  await assertNoOverflow(guest);
  const ana = await harness.page("ana", { path: "/groups" });
  await ana.getByRole("region", { name: "Maintenance" }).getByText(MESSAGE).waitFor();
  await harness.demo.command("maintenance", "off");
  await ana.getByRole("region", { name: "Maintenance" }).waitFor({ state: "detached" });
});
