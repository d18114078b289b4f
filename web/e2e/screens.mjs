// Every screen, from the lists of all areas, and how one comes to look at it.
import { readdirSync } from "node:fs";

import { ready } from "./pages.mjs";

const FOLDER = new URL("./screens/", import.meta.url);

/**
 * All screens: `name` (unique in its area), `who` sees it, `path` (or how to find it on a harness), `ready`: what
 * to wait for beside the heading, `does`: what happens on the page before it is looked at, and `allow`: console messages
 * that are meant.
 */
export async function screens() {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".mjs")).sort();
  const lists = await Promise.all(files.map(async (file) => {
    const { default: list } = await import(new URL(file, FOLDER));
    return list.map((screen) => ({ ...screen, area: file.replace(".mjs", "") }));
  }));
  return lists.flat();
}

/** Opens a screen and waits until everything is there. */
export async function open(harness, screen, options = {}) {
  const path = typeof screen.path === "function" ? await screen.path(harness) : screen.path;
  const page = await harness.page(screen.who, { path, allow: screen.allow, ...options });
  if (screen.ready) await page.locator(screen.ready).first().waitFor();
  await screen.does?.(page, harness);
  await ready(page);
  return page;
}
