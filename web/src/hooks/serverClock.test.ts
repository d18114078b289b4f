import { describe, expect, it } from "vitest";

import { formatMinutes, lateness, remainingTime } from "./serverClock";

describe("remaining time", () => {
  const second = 1000;
  const minute = 60 * second;
  const hour = 60 * minute;
  it("uses a suitable unit", () => {
    expect(remainingTime(9 * minute, 0)).toEqual({ unit: "seconds", text: "9:00" });
    expect(remainingTime(22 * minute, 0)).toEqual({ unit: "minutes", count: 22 });
    expect(remainingTime(3 * hour, 0)).toEqual({ unit: "hours", count: 3 });
    expect(remainingTime(50 * hour, 0)).toEqual({ unit: "days", count: 2 });
  });
  it("is over once the moment has passed", () => {
    expect(remainingTime(0, 4 * minute + 5 * second)).toEqual({ unit: "over", seconds: 245 });
    expect(remainingTime(0, 0)).toEqual({ unit: "seconds", text: "0:00" });
  });
  it("shows seconds with two digits", () => {
    expect(formatMinutes(61 * second)).toBe("1:01");
    expect(formatMinutes(-5)).toBe("0:00");
  });
});

describe("lateness", () => {
  it("counts minutes, then hours, then days", () => {
    expect(lateness(20)).toEqual({ unit: "minutes", count: 1 });
    expect(lateness(8 * 60 + 59)).toEqual({ unit: "minutes", count: 8 });
    expect(lateness(2 * 3_600)).toEqual({ unit: "hours", count: 2 });
    expect(lateness(3 * 86_400)).toEqual({ unit: "days", count: 3 });
  });
});
