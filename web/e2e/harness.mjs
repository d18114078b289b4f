// Harness of the browser tests: one demo school and one Chromium per test file, and pages as its users see them. A
// scenario also fails on unasserted errors: console errors, page errors, and requests to other origins.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openHarness } from "./pages.mjs";

export { assertAccessible, assertNoOverflow, assertTargetSize } from "./checks.mjs";
export {
  emailOf,
  eventually,
  focused,
  focusIs,
  moveFocus,
  pressItem,
  ready,
  rendered,
  selectionMoved,
  signIn,
  TIMEOUT_MS,
  unsentText,
  until,
  withMailServer,
} from "./pages.mjs";

let shared;
let options = {};

/** Options of the demo school of this file, see `Demo.start`. Call it before the first scenario. */
export function useDemo(next) {
  options = next;
}

after(async () => (await shared)?.close());

/** Runs one test with the harness of this file. Pages opened by the test are closed after it. */
export function scenario(name, run, { timeout = 300_000 } = {}) {
  test(name, { timeout }, async (t) => {
    shared ??= openHarness(options);
    const harness = await shared;
    try {
      await run(harness, t);
      assert.deepEqual(harness.errors, [], "unasserted errors");
    } catch (error) {
      for (const picture of await harness.screenshots(name)) t.diagnostic(`see ${picture}`);
      for (const fault of harness.errors) t.diagnostic(fault);
      throw error;
    } finally {
      await harness.closePages();
    }
  });
}
