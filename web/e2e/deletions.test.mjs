// Deleted objects: undone at once, restored from the list, and deleted for good.
import assert from "node:assert/strict";

import { assertAccessible, scenario } from "./harness.mjs";

const button = (page, name) => page.getByRole("button", { name, exact: true });
/** Creates a course of class 7b with a group; returns both. */
const withGroup = async (harness, name) => {
  const api = await harness.api("ada");
  const { classId, subjectId } = (await api.get("/courses")).find((one) => one.name === "Our earth");
  const course = await api.post("/courses", { name, classId, subjectId });
  const group = await api.post("/groups", { classId, courseId: course.id, name: `${name}: firs` });
  return { course, group };
};

scenario("deleted course is restored by undo with its groups", async (harness) => {
  const { course, group } = await withGroup(harness, "Woods");
  const page = await harness.page("ada", {
    path: `/courses/${course.id}`,
    allow: [/status of 404 .*\/api\/(courses|groups)\//],
  });
  await button(page, "More: Woods").click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText(/It can be restored until/).waitFor();
  await dialog.getByRole("textbox").fill("Woods");
  await button(page, "Delete the course").click();
  await page.getByText("“Woods” is deleted.").waitFor();
  await button(page, "Undo").click();
  await page.getByText("“Woods” is restored.").waitFor();
  const api = await harness.api("ada");
  const restored = await api.get(`/courses/${course.id}`);
  assert.deepEqual(
    restored.groups.map((one) => one.id),
    [group.id],
  );
});

scenario("teacher restores a group from the list and deletes another for good, on a phone", async (harness) => {
  const api = await harness.api("ada");
  const { course, group } = await withGroup(harness, "Meadows");
  const other = await api.post("/groups", { classId: course.classId, courseId: course.id, name: "Meadows: elms" });
  for (const { id } of [group, other]) await api.delete(`/groups/${id}`);
  const page = await harness.page("ada", { path: "/courses", width: 360, height: 740 });
  await page.getByRole("link", { name: "Deleted items" }).click();
  await page.getByRole("heading", { level: 1, name: "Deleted items" }).waitFor();
  await assertAccessible(page);
  await button(page, "Restore “Meadows: firs”").click();
  await page.getByText("“Meadows: firs” is restored.").waitFor();
  await page.getByText("Meadows: elms").waitFor();
  await button(page, "Restore “Meadows: firs”").waitFor({ state: "detached" });
  await button(page, "More: Meadows: elms").click();
  await page.getByRole("menuitem", { name: "Delete for good…" }).click();
  await button(page, "Delete for good").click();
  await page.getByText("“Meadows: elms” is deleted for good.").waitFor();
  const { groups } = await api.get(`/courses/${course.id}`);
  assert.deepEqual(
    groups.map((one) => one.name),
    ["Meadows: firs"],
  );
});
