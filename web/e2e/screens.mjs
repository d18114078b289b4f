// Every screen, from the lists of all areas.
import { readdirSync } from "node:fs";

const FOLDER = new URL("./screens/", import.meta.url);

/**
 * All screens: `name` (unique, a sentence's beginning), `who` sees it, `path` (or how to find it on a stage), `ready`: what
 * to wait for beside the heading, and `does`: what happens on the page before it is looked at.
 */
export async function screens() {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".mjs")).sort();
  const lists = await Promise.all(files.map(async (file) => {
    const { default: list } = await import(new URL(file, FOLDER));
    return list.map((screen) => ({ ...screen, area: file.replace(".mjs", "") }));
  }));
  return lists.flat();
}
