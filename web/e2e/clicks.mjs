// Counts what a user does on a page: clicks, and keys that are commands. Characters typed into a field are not counted, a click
// that focuses the field is.

/** Returns the counter of a page. `during` returns the number of clicks and keys while a function runs. */
export async function countClicks(page) {
  let count = 0;
  await page.exposeBinding("countClick", () => {
    count += 1;
  });
  const listen = () => {
    const isTyping = ({ key, ctrlKey, metaKey, target }) => {
      const isField = target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea"));
      const isInDate = target instanceof HTMLElement && target.getAttribute("role") === "spinbutton";
      return (isField || isInDate) && key.length === 1 && !ctrlKey && !metaKey;
    };
    // Playwright stops the event at the window, and repeats the click, if the element has moved away.
    document.addEventListener("pointerdown", (event) => event.isTrusted && globalThis.countClick(), true);
    document.addEventListener(
      "keydown",
      (event) => event.isTrusted && !isTyping(event) && globalThis.countClick(),
      true,
    );
  };
  await page.addInitScript(listen);
  await page.evaluate(listen);
  return {
    async during(act) {
      const before = count;
      await act();
      // Calls of the binding are in order.
      await page.evaluate(() => globalThis.countClick());
      count -= 1;
      return count - before;
    },
  };
}

/** Types into a field, after a click if it does not have the focus. */
export async function type(field, text) {
  if (!(await field.evaluate((element) => element === document.activeElement))) await field.click();
  await field.page().keyboard.type(text);
}

/** Chooses a file with a button. */
export async function chooseFile(page, button, file) {
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
  await chooser.setFiles(file);
}
