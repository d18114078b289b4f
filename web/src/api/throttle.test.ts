import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { throttleInvalidation } from "./throttle";

describe("throttleInvalidation", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  it("invalidates immediately, and once more after a second for any number of events", () => {
    const invalidateQueries = vi.fn();
    const ask = throttleInvalidation({ invalidateQueries });
    for (let hint = 0; hint < 20; hint += 1) ask(["board", "a"]);
    ask(["groups"]);
    expect(invalidateQueries.mock.calls).toEqual([[{ queryKey: ["board", "a"] }], [{ queryKey: ["groups"] }]]);
    vi.advanceTimersByTime(1000);
    expect(invalidateQueries).toHaveBeenCalledTimes(3);
    vi.advanceTimersByTime(5000);
    expect(invalidateQueries).toHaveBeenCalledTimes(3);
  });
});
