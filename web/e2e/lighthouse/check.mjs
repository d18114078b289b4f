// Runs Lighthouse on the first screens of each role and fails unless accessibility and best practices score 100.
// `make lighthouse` installs it next to the client and runs this file; `make soak` runs it too.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import lighthouse from "lighthouse";
import { chromium } from "playwright-core";

import { CHROMIUM, FLAGS, openHarness } from "../pages.mjs";

const WANTED = { accessibility: 100, "best-practices": 100 };
const PORT = 9_333;

const harness = await openHarness();
const folder = mkdtempSync(join(tmpdir(), "groupwork-lighthouse-"));
const browser = await chromium.launchPersistentContext(folder, {
  executablePath: CHROMIUM,
  args: [...FLAGS, `--remote-debugging-port=${PORT}`],
});
const faults = [];
try {
  const board = `/topics/${(await harness.topic("Landforms")).id}/board`;
  for (const [name, who, path] of [
    ["sign-in", "nobody", "/login"],
    ["lesson board", "ada", board],
    ["my groups", "ana", "/groups"],
  ]) {
    await browser.clearCookies();
    if (who !== "nobody") await browser.addCookies(await harness.cookiesOf(who));
    const options = { port: PORT, onlyCategories: Object.keys(WANTED), disableStorageReset: true, logLevel: "error" };
    const { lhr } = await lighthouse(harness.base + path, options);
    for (const [category, wanted] of Object.entries(WANTED)) {
      const { score, auditRefs } = lhr.categories[category];
      console.log(`${name}: ${category} ${Math.round(score * 100)}`);
      if (score * 100 >= wanted) continue;
      faults.push(`${name}: ${category} is not ${wanted}`);
      const missed = auditRefs
        .map(({ id }) => lhr.audits[id])
        .filter((audit) => audit.score !== null && audit.score < 1);
      for (const { id, title, details } of missed)
        faults.push(`${name}: ${id}: ${title} ${JSON.stringify(details?.items ?? []).slice(0, 600)}`);
    }
  }
} finally {
  await browser.close();
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
