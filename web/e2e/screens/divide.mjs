// Preparing a lesson: the group maker and the form of a topic.
const courseId = async (harness) =>
  (await (await harness.api("ada")).get("/courses")).find((one) => one.name === "Our earth").id;
const divide = async (harness) => `/courses/${await courseId(harness)}/divide`;
const topic = async (harness) => `/topics/${(await harness.topic("Landforms")).id}`;
const editedTopic = async (harness) => `${await topic(harness)}?edit=true`;

export default [
  { name: "Dividing a class", who: "ada", path: divide, ready: "[data-place]" },
  {
    name: "A class laid out in new groups",
    who: "ada",
    path: divide,
    ready: "[data-place]",
    does: async (page) => {
      await page.getByRole("checkbox").last().locator("xpath=ancestor::label").click();
      await page.locator("[data-shuffle]").click();
      await page.locator('[data-group^="new"]').first().waitFor();
    },
  },
  {
    name: "A new topic",
    who: "ada",
    path: async (harness) => `/topics/new?courseId=${await courseId(harness)}`,
    ready: ".rich-text",
  },
  {
    name: "A new topic, groups and times",
    who: "ada",
    path: async (harness) => `/topics/new?courseId=${await courseId(harness)}`,
    ready: "form",
    does: async (page) => {
      await page.getByRole("button", { name: /^2 / }).click();
      await page.locator("#groups").waitFor();
    },
  },
  {
    name: "A copy of a topic",
    who: "ada",
    path: topic,
    ready: "#groups",
    does: async (page) => {
      await page
        .locator("main header, main")
        .getByRole("button", { name: /^(More|Mehr): Landforms/ })
        .first()
        .click();
      await page.getByRole("menuitem", { name: /Copy…|Kopieren …/ }).click();
      await page.getByRole("dialog").getByRole("radio").first().waitFor();
    },
  },
  {
    name: "A picture in the text of a topic",
    who: "ada",
    path: editedTopic,
    ready: ".rich-text",
    does: async (page) => {
      await page.getByRole("button", { name: /^(Picture|Bild)$/ }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "A text of a topic as Markdown",
    who: "ada",
    path: editedTopic,
    ready: "form",
    does: async (page) => {
      await page.locator(".rich-text, textarea").first().waitFor();
      if ((await page.locator("form [role=tab]").count()) === 0)
        await page.getByRole("button", { name: "Markdown" }).click();
      await page.locator("form [role=tab]").first().waitFor();
    },
  },
  { name: "A topic", who: "ada", path: topic, ready: "#groups" },
  { name: "A topic, edited", who: "ada", path: editedTopic, ready: ".rich-text" },
  {
    name: "A topic with a text for each group",
    who: "ada",
    path: editedTopic,
    ready: "form",
    does: async (page) => {
      await page.locator('label:has(input[value="each"])').click();
      await page.locator("form [aria-expanded]").first().click();
    },
  },
];
