import { type Me, type EffectiveRole, effectiveRole } from "../../auth/session";

const STAFF = [
  ["/today", "nav.today"],
  ["/courses", "nav.courses"],
  ["/submissions", "nav.submissions"],
  ["/activity", "nav.activity"],
] as const;
const ADMIN = [...STAFF, ["/admin", "nav.admin"]] as const;

const INSTALLATION = [["/super/tenants", "nav.tenants"]] as const;

const LINKS = {
  student: [["/groups", "nav.groups"]],
  teacher: STAFF,
  admin: ADMIN,
  owner: ADMIN,
  super: [...ADMIN, ...INSTALLATION],
} as const;

export type NavLink = (typeof LINKS)[EffectiveRole][number];

/** Main navigation of a user. Without a school only the installation remains. */
export function linksFor(person: Me): readonly NavLink[] {
  const is = effectiveRole(person);
  return person.organization ? LINKS[is] : is === "super" ? INSTALLATION : [];
}
