// Viewing and grading works, and the overview of submissions.
const at = async (harness, name) => {
  const [topic, group] = await Promise.all([harness.topic("Landforms"), harness.group(name)]);
  return `/topics/${topic.id}/work/${group.id}`;
};

/** Waits for a dialog that a click has opened. */
const opens = (open) => async (page) => {
  await open(page);
  await page.getByRole("dialog").waitFor();
};

export default [
  { name: "A work to grade", who: "ada", path: (harness) => at(harness, "Coasts"), ready: "iframe" },
  {
    name: "A work with everything about it",
    who: "ada",
    path: (harness) => at(harness, "Coasts"),
    ready: "iframe",
    does: async (page) => {
      for (const fold of await page.locator("#work-panel summary").all()) await fold.click();
      // The clicks scrolled the page; elements partly covered by the header are not what this screen checks.
      await page.evaluate(() => window.scrollTo(0, 0));
    },
  },
  { name: "A work that is not handed in", who: "ada", path: (harness) => at(harness, "Volcanoes"), ready: "iframe" },
  {
    name: "Submitting for a group",
    who: "ada",
    path: (harness) => at(harness, "Volcanoes"),
    ready: "iframe",
    does: opens((page) => page.locator("#work-panel button").first().click()),
  },
  {
    name: "Own texts for feedback",
    who: "ada",
    path: (harness) => at(harness, "Coasts"),
    ready: "iframe",
    does: opens((page) => page.locator("#work-panel [aria-haspopup=dialog]").first().click()),
  },
  {
    name: "Choosing a rubric for a topic",
    who: "ada",
    path: async (harness) => `/topics/${(await harness.topic("Landforms")).id}`,
    ready: "#rubric",
    does: opens((page) => page.locator("section[aria-labelledby=rubric] button[aria-haspopup=dialog]").click()),
  },
  { name: "Submissions to grade", who: "ada", path: "/submissions", ready: "table" },
  {
    name: "All submissions of a topic",
    who: "ada",
    path: async (harness) => `/submissions?assignmentId=${(await harness.topic("Landforms")).id}`,
    ready: "table",
  },
  { name: "Submissions, no match", who: "ada", path: "/submissions?status=GRADED&search=nowhere" },
  { name: "Submissions of all classes", who: "admin", path: "/submissions?status=ALL", ready: "table" },
];
