// The harness of the browser tests: a demo school of its own per test file, one Chromium, and pages as its people see them.
// A scene fails on what nobody asserted, too: errors in the console, errors of the page, requests that leave the origin.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openHarness } from "./pages.mjs";

export { audit, narrow, targets } from "./checks.mjs";
export { emailOf, TIMEOUT_MS, ready, signIn } from "./pages.mjs";

let shared;
after(async () => (await shared)?.close());

/** One test on the harness of this file. What it opens is closed after it. */
export function scenario(name, run, { timeout = 300_000 } = {}) {
  test(name, { timeout }, async (t) => {
    shared ??= openHarness();
    const harness = await shared;
    try {
      await run(harness, t);
      assert.deepEqual(harness.errors, [], "errors that no line of the test asked for");
    } catch (error) {
      for (const picture of await harness.screenshots(name)) t.diagnostic(`see ${picture}`);
      for (const fault of harness.errors) t.diagnostic(fault);
      throw error;
    } finally {
      await harness.closePages();
    }
  });
}
