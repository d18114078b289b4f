import { expect, it } from "vitest";

import { currentAddress } from "./oldAddresses";

it("replaces addresses of earlier versions and keeps search and hash", () => {
  expect(["/t/new?courseId=c", "/t/1/work/2?p=3", "/g/1", "/g/1?place=chat#x", "/g/1/d/2"].map(currentAddress)).toEqual(
    ["/topics/new?courseId=c", "/topics/1/work/2?p=3", "/groups/1", "/groups/1?place=chat#x", "/groups/1/documents/2"],
  );
});

it("leaves other addresses unchanged", () => {
  const others = ["/", "/today", "/groups/1/documents/2", "/topics/1", "/g", "/courses/g/1"];
  expect(others.map(currentAddress)).toEqual(others);
});
