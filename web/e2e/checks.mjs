// Checks that hold on every screen for every role.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { rendered, TIMEOUT_MS } from "./pages.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Asserts that axe finds no violations on the current page. */
export async function assertAccessible(page, what = page.url()) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const violations = await page.evaluate(async (tags) => {
    // Selectors, and nodes without a violation, are not printed: finding them takes a third of the time.
    const { violations: found } = await window.axe.run({
      runOnly: tags,
      resultTypes: ["violations"],
      selectors: false,
    });
    return found.flatMap((rule) =>
      rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 200)}\n    ${node.failureSummary}`),
    );
  }, TAGS);
  assert.equal(violations.length, 0, `${what}\n  ${violations.join("\n  ")}`);
}

/** Asserts that the page does not scroll horizontally at 320 px. */
export async function assertNoOverflow(page, what = page.url()) {
  await page.setViewportSize({ width: 320, height: 800 });
  // Columns become tabs after a resize, which takes a moment. Elements that stay too wide are listed below.
  await page
    .waitForFunction(() => document.documentElement.scrollWidth <= 320, undefined, { timeout: TIMEOUT_MS })
    .catch(() => undefined);
  await rendered(page);
  const { width, wide } = await page.evaluate(() => {
    const beyond = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > 320.5);
    return {
      width: document.documentElement.scrollWidth,
      wide: beyond.slice(0, 5).map((one) => one.outerHTML.slice(0, 160)),
    };
  });
  assert.ok(width <= 320, `${what} is ${width} px wide at 320 px\n  ${wide.join("\n  ")}`);
}

/** Asserts that every interactive element is at least 24 px high and wide. Links inside a sentence have the height of its text. */
export async function assertTargetSize(page, what = page.url()) {
  const small = await page.evaluate(() => {
    const kinds = ["button", "tab", "menuitem", "menuitemradio", "option", "switch"].map((role) => `[role=${role}]`);
    const all = document.querySelectorAll(
      ["a[href]", "button", "summary", "input", "select", "textarea", ...kinds].join(),
    );
    const isSeen = (one) => {
      for (let at = one; at; at = at.parentElement) {
        const style = getComputedStyle(at);
        // Visible to screen readers only, or not rendered.
        if (
          style.visibility === "hidden" ||
          style.opacity === "0" ||
          style.clipPath === "inset(50%)" ||
          /rect\(0px.*\)/.test(style.clip)
        )
          return false;
        if (at.getAttribute("aria-hidden") === "true") return false;
      }
      return true;
    };
    return (
      [...all]
        .map((one) => ({ one, box: one.getBoundingClientRect() }))
        .filter(
          ({ one, box }) =>
            box.width > 0 &&
            box.height > 0 &&
            (box.width < 24 || box.height < 24) &&
            getComputedStyle(one).display !== "inline",
        )
        // A control inside a label is activated by clicking the label.
        .filter(({ one }) => (one.closest("label")?.getBoundingClientRect().height ?? 0) < 24 && isSeen(one))
        .map(({ one, box }) => `${Math.round(box.width)} × ${Math.round(box.height)}: ${one.outerHTML.slice(0, 160)}`)
    );
  });
  assert.deepEqual(small, [], `${what} has targets under 24 px`);
}
