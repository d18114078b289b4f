import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { throttleInvalidation } from "./throttle";

describe("asking gently", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  it("asks at once, and once more after a second however many hints came", () => {
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
