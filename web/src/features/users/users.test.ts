import { describe, expect, it } from "vitest";

import type { Me } from "../../auth/session";
import { type KnownUser, canChangeUser, ROLES, rolesBelow } from "./users";

const known = (id: string, role: (typeof ROLES)[number]) => ({ id, member: { role } }) as unknown as KnownUser;
const caller = (role: string) =>
  ({
    id: "caller",
    role: role === "super" ? "SUPER_ADMIN" : "STUDENT",
    member: role === "super" ? null : { role },
  }) as unknown as Me;

describe("roles", () => {
  it("let users change lower roles, and owners each other", () => {
    const changed = (role: string) => ROLES.filter((other) => canChangeUser(caller(role), known("other", other)));
    expect(changed("super")).toEqual(["owner", "admin", "teacher", "student"]);
    expect(changed("owner")).toEqual(["owner", "admin", "teacher", "student"]);
    expect(changed("admin")).toEqual(["teacher", "student"]);
    expect(changed("teacher")).toEqual(["student"]);
    expect(changed("student")).toEqual([]);
  });
  it("do not let users change themselves", () => {
    expect(ROLES.some((role) => canChangeUser(caller(role), known("caller", role)))).toBe(false);
  });
  it("let users assign lower roles", () => {
    expect([rolesBelow("admin"), rolesBelow("owner")]).toEqual([
      ["teacher", "student"],
      ["owner", "admin", "teacher", "student"],
    ]);
  });
});
