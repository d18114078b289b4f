// The board beyond its initial view: dialogs, projector, help.
const boardOf = async (harness) => `/topics/${(await harness.topic("Landforms")).id}/board`;

/** Opens a dialog of the board with a button or a menu item. */
const opens =
  (open, role = "dialog") =>
  async (page) => {
    await open(page);
    await page.getByRole(role).first().waitFor();
  };

/** Matches a text in the two languages of the screen tests. */
const called = (english, german) => new RegExp(`${english}|${german}`);

export default [
  {
    name: "The board: a message to all",
    who: "ada",
    path: boardOf,
    ready: "[data-card]",
    does: opens((page) => page.getByRole("button", { name: called("Message all", "Allen schreiben") }).click()),
  },
  {
    name: "The board: more time",
    who: "ada",
    path: boardOf,
    ready: "[data-card]",
    does: opens((page) => page.getByRole("button", { name: "+5 min" }).click()),
  },
  {
    name: "The board: finishing",
    who: "ada",
    path: boardOf,
    ready: "[data-card]",
    does: opens(
      (page) => page.getByRole("button", { name: called("Finish…", "Abschließen …") }).click(),
      "alertdialog",
    ),
  },
  {
    name: "The board: shortcuts",
    who: "ada",
    path: boardOf,
    ready: "[data-card]",
    does: opens((page) => page.keyboard.press("?")),
  },
  {
    name: "The board: moving a student",
    who: "ada",
    path: boardOf,
    ready: "[data-card]",
    does: opens(async (page) => {
      await page.locator("article").first().getByRole("button").click();
      await page
        .getByRole("menuitem", { name: called("^Move ", " verschieben") })
        .first()
        .click();
    }),
  },
  {
    name: "The projector",
    who: "ada",
    path: async (harness) => `/topics/${(await harness.topic("Landforms")).id}/projector`,
    ready: "[role=timer]",
  },
  { name: "Help for teachers", who: "ada", path: "/help" },
  { name: "Help for students", who: "ana", path: "/help" },
];
