// The board beyond its first look: its windows, the projector, help.
const boardOf = async (harness) => `/t/${(await harness.topic("Landforms")).id}/board`;

/** Opens a window of the board: by a button, or by a choice in a menu. */
const opens = (open, role = "dialog") => async (page) => {
  await open(page);
  await page.getByRole(role).first().waitFor();
};

/** The same words in the two languages the screens are looked at in. */
const called = (english, german) => new RegExp(`${english}|${german}`);

export default [
  { name: "The board: a message to all", who: "ada", path: boardOf, ready: "[data-card]", does: opens((page) => page.getByRole("button", { name: called("Message all", "Allen schreiben") }).click()) },
  { name: "The board: more time", who: "ada", path: boardOf, ready: "[data-card]", does: opens((page) => page.getByRole("button", { name: "+5 min" }).click()) },
  { name: "The board: finishing", who: "ada", path: boardOf, ready: "[data-card]", does: opens((page) => page.getByRole("button", { name: called("Finish…", "Abschließen …") }).click(), "alertdialog") },
  { name: "The board: shortcuts", who: "ada", path: boardOf, ready: "[data-card]", does: opens((page) => page.keyboard.press("?")) },
  {
    name: "The board: moving a student",
    who: "ada",
    path: boardOf,
    ready: "[data-card]",
    does: opens(async (page) => {
      await page.locator("article").first().getByRole("button").click();
      await page.getByRole("menuitem", { name: called("^Move ", " verschieben") }).first().click();
    }),
  },
  { name: "The projector", who: "ada", path: async (harness) => `/t/${(await harness.topic("Landforms")).id}/projector`, ready: "[role=timer]" },
  { name: "Help for teachers", who: "ada", path: "/help" },
  { name: "Help for students", who: "ana", path: "/help" },
];
