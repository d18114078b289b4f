// Collects every screen from the lists of all areas, and opens them.
import { readdirSync } from "node:fs";

import { ready } from "./pages.mjs";

const FOLDER = new URL("./screens/", import.meta.url);

/**
 * All screens. `name` is unique in its area, `who` is the user, `path` (or a function of the harness that finds it) is the
 * URL, `ready` is what to wait for besides the heading, `does` runs on the page before the checks, and `allow` lists
 * expected console messages.
 */
export async function screens() {
  const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".mjs"))
    .sort();
  const lists = await Promise.all(
    files.map(async (file) => {
      const { default: list } = await import(new URL(file, FOLDER));
      return list.map((screen) => ({ ...screen, area: file.replace(".mjs", "") }));
    }),
  );
  return lists.flat();
}

/** Opens a screen and waits until it is complete. */
export async function open(harness, screen, options = {}) {
  const path = typeof screen.path === "function" ? await screen.path(harness) : screen.path;
  const page = await harness.page(screen.who, { path, allow: screen.allow, ...options });
  if (screen.ready) await page.locator(screen.ready).first().waitFor();
  await screen.does?.(page, harness);
  await ready(page);
  return page;
}
