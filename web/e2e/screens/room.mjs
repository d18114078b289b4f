// Screens of students: the sections of the work room, submitting, messages; and a visiting teacher.
const room = async (harness, rest = "") => `/groups/${(await harness.group("Rivers", "ana")).id}${rest}`;

export default [
  { name: "The work room: chat", who: "ana", path: (harness) => room(harness, "?place=chat"), ready: "[role=log]" },
  { name: "The work room: feedback", who: "ana", path: (harness) => room(harness, "?place=feedback") },
  { name: "The work room: a teacher visits", who: "ada", path: (harness) => room(harness), ready: "[data-part]" },
  {
    name: "Submitting",
    who: "ana",
    path: (harness) => room(harness),
    does: async (page) => {
      await page
        .getByRole("button", { name: /^(Submit|Abgeben)/ })
        .first()
        .click();
      await page.getByRole("dialog").getByRole("checkbox").first().waitFor();
    },
  },
  {
    name: "Asking for help",
    who: "ana",
    path: (harness) => room(harness),
    does: async (page) => {
      await page.getByRole("button", { name: /Ask for help|Um Hilfe bitten/ }).click();
      await page.getByRole("dialog").getByRole("textbox").waitFor();
    },
  },
  {
    name: "Versions of a document",
    who: "ana",
    path: (harness) => room(harness, "?place=documents"),
    does: async (page) => {
      await page
        .getByRole("button", { name: /: .*\.docx$/ })
        .first()
        .click();
      await page.getByRole("menuitem", { name: /Versions|Fassungen/ }).click();
      await page.getByRole("dialog").getByRole("listitem").first().waitFor();
    },
  },
  { name: "Messages", who: "ana", path: "/messages" },
  {
    name: "Writing a message",
    who: "ana",
    path: "/messages",
    does: async (page) => {
      await page.getByRole("button", { name: /^(New message|Schreiben)$/ }).click();
      await page.getByRole("dialog").getByRole("checkbox").first().waitFor();
    },
  },
];
