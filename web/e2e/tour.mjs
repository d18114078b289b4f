// Takes screenshots of every screen of a fresh demo school for docs/screens.md: wide in light and dark, and at 320 px. Run by
// `make tour`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import { open, screens } from "./screens.mjs";
import { openHarness } from "./pages.mjs";

const DOCS = new URL("../../docs/", import.meta.url);
const PICTURES = new URL("screens/", DOCS);
const QUALITY = 62;
const LOOKS = {
  light: {},
  dark: { dark: true },
  narrow: { width: 320, height: 640 },
};

const slug = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
const title = (area) => area[0].toUpperCase() + area.slice(1);
/** Replaces ids in URLs, which are meaningless to readers. */
const readable = (url) => decodeURI(new URL(url).pathname + new URL(url).search).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…");

async function draw(page, file) {
  const devtools = await page.context().newCDPSession(page);
  // Fonts and presence that load a moment later belong in the screenshot.
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(400);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  writeFileSync(new URL(file, PICTURES), Buffer.from(data, "base64"));
}

const harness = await openHarness();
const parts = new Map();
const failed = [];
try {
  const all = await screens();
  rmSync(PICTURES, { recursive: true, force: true });
  mkdirSync(PICTURES, { recursive: true });
  for (const screen of all) {
    const name = `${screen.area}-${slug(screen.name)}`;
    let address = "";
    try {
      for (const [look, options] of Object.entries(LOOKS)) {
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

const section = ({ name, who, address, file }) => `### ${name}

\`${address}\`, as ${who === "nobody" ? "nobody who is signed in" : `${who}@`}

| Light | Dark | 320 px |
|---|---|---|
| ![${name}, light](screens/${file}-light.webp) | ![${name}, dark](screens/${file}-dark.webp) | ![${name}, narrow](screens/${file}-narrow.webp) |
`;
const text = [...parts].map(([area, list]) => `## ${title(area)}\n\n${list.map(section).join("\n")}`);
writeFileSync(new URL("screens.md", DOCS), `# Every screen

Screenshots of the demo school, taken by \`make tour\` in Debian's Chromium from the same lists (\`web/e2e/screens/\`) that the
browser tests check against WCAG 2.2 AA.

${text.join("\n")}`);

// The README shows some of these screenshots.
const drawn = new Set(readdirSync(PICTURES).map((file) => `docs/screens/${file}`));
const readme = readFileSync(new URL("../README.md", DOCS), "utf8");
for (const [, file] of readme.matchAll(/\((docs\/screens\/[^)]+)\)/g)) if (!drawn.has(file)) failed.push(`README.md shows ${file}, which is no longer drawn`);
for (const fault of failed) console.error(fault);
process.exit(failed.length === 0 ? 0 : 1);
