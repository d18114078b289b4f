// Filters of the list of users in the URL. A file of its own, because the first load of every page parses URLs.

/** Roles that lists can be filtered by; owners are included in administrators. */
export const ROLE_FILTERS = ["STUDENT", "TEACHER", "ADMIN"] as const;

export interface UserFilterValues {
  search?: string | undefined;
  role?: (typeof ROLE_FILTERS)[number] | undefined;
  homeroomId?: string | undefined;
  isActive?: "1" | "0" | undefined;
}
