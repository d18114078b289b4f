import { createElement, type FunctionComponent, Suspense } from "react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";

import { lazyPart, prefetchLazyParts } from "./lazyPart";

const newPart = () => lazyPart(() => Promise.resolve(() => createElement("p", null, "content")));
const rendered = (part: FunctionComponent) =>
  renderToString(createElement(Suspense, { fallback: "loading" }, createElement(part)));

test("only a part that was not prefetched suspends", async () => {
  const prefetched = newPart();
  await prefetchLazyParts();
  expect(rendered(prefetched)).not.toContain("loading");
  expect(rendered(newPart())).toContain("loading");
});
