import { describe, expect, it } from "vitest";

import { homeroomsWithoutClass } from "./homeroomClasses";

describe("homerooms without a class", () => {
  it("are listed by number, with those that need a teacher, without those that cannot have a class", () => {
    const teacher = { id: "t", name: "Ada", image: null };
    const preview = {
      created: [
        { homeroomId: "10", name: "10a", teacher, students: 3 },
        { homeroomId: "5", name: "5a", teacher, students: 2 },
      ],
      problems: [
        { homeroomId: "7", name: "7a", problem: "NO_TEACHER" as const },
        { homeroomId: "8", name: "8a", problem: "HAS_CLASS" as const },
      ],
    };
    expect(homeroomsWithoutClass(preview, [{ id: "7", studentCount: 9 }])).toEqual([
      { id: "5", name: "5a", teacher: "Ada", students: 2 },
      { id: "7", name: "7a", teacher: null, students: 9 },
      { id: "10", name: "10a", teacher: "Ada", students: 3 },
    ]);
  });
});
