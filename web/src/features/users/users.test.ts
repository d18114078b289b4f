import { describe, expect, it } from "vitest";

import type { EffectiveRole, Me } from "../../auth/session";
import { type KnownUser, canChangeUser, ROLES, rolesBelow } from "./users";
import { partial } from "../../testing/partial";

const known = (id: string, role: (typeof ROLES)[number]) => partial<KnownUser>({ id, member: { role } });
const caller = (role: EffectiveRole) =>
  partial<Me>({
    id: "caller",
    role: role === "super" ? "SUPER_ADMIN" : "STUDENT",
    member: role === "super" ? null : { role },
  });

describe("roles", () => {
  it("let users change lower roles, and owners each other", () => {
    const changed = (role: EffectiveRole) =>
      ROLES.filter((other) => canChangeUser(caller(role), known("other", other)));
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
