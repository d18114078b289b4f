import { type Me, type EffectiveRole, effectiveRole } from "../auth/session";

const STAFF = [
  ["/today", "nav.today"],
  ["/courses", "nav.courses"],
  ["/submissions", "nav.submissions"],
  ["/activity", "nav.activity"],
] as const;
const ADMIN = [...STAFF, ["/admin", "nav.admin"]] as const;

const INSTALLATION = [["/super/tenants", "nav.tenants"]] as const;

const PLACES = {
  student: [["/groups", "nav.groups"]],
  teacher: STAFF,
  admin: ADMIN,
  owner: ADMIN,
  super: [...ADMIN, ...INSTALLATION],
} as const;

export type Place = (typeof PLACES)[EffectiveRole][number];

/** Where somebody can go from everywhere: an address and what it is called. Without a school only the installation is left. */
export function placesOf(person: Me): readonly Place[] {
  const is = effectiveRole(person);
  return person.organization ? PLACES[is] : is === "super" ? INSTALLATION : [];
}
