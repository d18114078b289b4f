// The stage of the browser tests: a demo school of its own per test file, one Chromium, and pages as its people see them.
// A scene fails on what nobody asserted, too: errors in the console, errors of the page, requests that leave the origin.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openStage } from "./pages.mjs";

export { audit, narrow, targets } from "./checks.mjs";
export { emailOf, PATIENCE, ready, signIn } from "./pages.mjs";

let shared;
after(async () => (await shared)?.close());

/** One test on the stage of this file. What it opens is closed after it. */
export function scene(name, play, { timeout = 300_000 } = {}) {
  test(name, { timeout }, async (t) => {
    shared ??= openStage();
    const stage = await shared;
    try {
      await play(stage, t);
      assert.deepEqual(stage.faults, [], "errors that no line of the test asked for");
    } catch (error) {
      for (const picture of await stage.pictures(name)) t.diagnostic(`see ${picture}`);
      for (const fault of stage.faults) t.diagnostic(fault);
      throw error;
    } finally {
      await stage.clear();
    }
  });
}
