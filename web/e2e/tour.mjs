// Takes screenshots of every screen of a fresh demo school: wide in light and dark, and at 320 px. `make tour` runs it and
// writes them with an index page to target/tour. With the names of areas as arguments it visits only these. With --readme it
// also replaces the screenshots in docs/images, which the README shows.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { open, screens } from "./screens.mjs";
import { openHarness } from "./pages.mjs";

const ROOT = new URL("../../", import.meta.url);
const TOUR = new URL("target/tour/", ROOT);
const IMAGES = new URL("docs/images/", ROOT);
const QUALITY = 62;
const VARIANTS = { light: {}, dark: { dark: true }, narrow: { width: 320, height: 640 } };

const slug = (text) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
const title = (area) => area[0].toUpperCase() + area.slice(1);
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
/** Replaces ids in URLs, which are meaningless to readers. */
const readable = (url) =>
  decodeURI(new URL(url).pathname + new URL(url).search).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…");

async function draw(page, file) {
  const devtools = await page.context().newCDPSession(page);
  // Fonts and presence that load a moment later belong in the screenshot.
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(400);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  writeFileSync(new URL(file, TOUR), Buffer.from(data, "base64"));
}

const isForReadme = process.argv.includes("--readme");
const areas = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const all = (await screens()).filter(({ area }) => areas.length === 0 || areas.includes(area));
if (all.length === 0) throw new Error(`no screens in ${areas.join(", ")}`);

const harness = await openHarness();
const parts = new Map();
const failed = [];
try {
  rmSync(TOUR, { recursive: true, force: true });
  mkdirSync(TOUR, { recursive: true });
  for (const screen of all) {
    const name = `${screen.area}-${slug(screen.name)}`;
    let address = "";
    try {
      for (const [look, options] of Object.entries(VARIANTS)) {
        const page = await open(harness, screen, options);
        address = readable(page.url());
        await draw(page, `${name}-${look}.webp`);
        await harness.closePages();
      }
      parts.set(screen.area, [...(parts.get(screen.area) ?? []), { ...screen, file: name, address }]);
      console.log(`screenshot: ${screen.area}, ${screen.name}`);
    } catch (error) {
      failed.push(`${screen.area}, ${screen.name}: ${error.message.split("\n")[0]}`);
      await harness.closePages();
    }
  }
} finally {
  await harness.close();
}

const picture = (name, file, look) =>
  `<a href="${file}-${look}.webp"><img src="${file}-${look}.webp" alt="${escape(name)}, ${look}" loading="lazy"></a>`;
const section = ({ name, who, address, file }) => `<h3>${escape(name)}</h3>
<p><code>${escape(address)}</code>, ${who === "nobody" ? "signed out" : `signed in as ${who}`}</p>
<div>${Object.keys(VARIANTS)
  .map((look) => picture(name, file, look))
  .join("\n")}</div>`;
const text = [...parts].map(([area, list]) => `<h2>${escape(title(area))}</h2>\n${list.map(section).join("\n")}`);
writeFileSync(
  new URL("index.html", TOUR),
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Every screen of groupwork</title>
<style>
body { font-family: sans-serif; margin: 2rem; }
div { display: grid; grid-template-columns: 2fr 2fr 1fr; gap: 1rem; align-items: start; }
img { width: 100%; border: 1px solid #999; }
</style>
<h1>Every screen of groupwork</h1>
<p>The demo school in Chromium: light, dark, and at 320 px.</p>
${text.join("\n")}
</html>
`,
);
console.log(`tour: ${fileURLToPath(new URL("index.html", TOUR))}`);

// The README shows some of these screenshots.
const readme = readFileSync(new URL("README.md", ROOT), "utf8");
const shown = new Set([...readme.matchAll(/\(docs\/images\/([^)]+)\)/g)].map(([, file]) => file));
for (const file of areas.length === 0 ? shown : []) {
  if (!existsSync(new URL(file, TOUR)))
    failed.push(`README.md shows docs/images/${file}, which the tour no longer takes`);
}
if (isForReadme && failed.length === 0) {
  for (const file of readdirSync(IMAGES)) if (!shown.has(file)) rmSync(new URL(file, IMAGES));
  for (const file of shown)
    if (existsSync(new URL(file, TOUR))) copyFileSync(new URL(file, TOUR), new URL(file, IMAGES));
}
for (const fault of failed) console.error(fault);
process.exit(failed.length === 0 ? 0 : 1);
