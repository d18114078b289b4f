import type { Standing } from "../lib/session";

const STAFF = [
  ["/today", "nav.today"],
  ["/courses", "nav.courses"],
  ["/submissions", "nav.submissions"],
  ["/activity", "nav.activity"],
] as const;
const ADMIN = [...STAFF, ["/admin", "nav.admin"]] as const;

const PLACES = {
  student: [["/groups", "nav.groups"]],
  teacher: STAFF,
  admin: ADMIN,
  owner: ADMIN,
  super: [...ADMIN, ["/super/tenants", "nav.tenants"]],
} as const;

export type Place = (typeof PLACES)[Standing][number];

/** Where somebody can go from everywhere: an address and what it is called. */
export const placesOf = (standing: Standing): readonly Place[] => PLACES[standing];
