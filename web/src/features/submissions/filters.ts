// Filters of the submissions in the URL. A file of its own, because the first load of every page parses URLs.

export const STATES = ["UNGRADED", "SUBMITTED", "GRADED", "RETURNED", "LATE", "IN_PROGRESS", "NOT_STARTED"] as const;
export type WorkState = (typeof STATES)[number] | "ALL";

export const COLUMNS = ["group", "topic", "submitted", "status", "grade", "files"] as const;
export type ColumnName = (typeof COLUMNS)[number];

/** Filters stored in the URL. */
export interface Filters {
  classId?: string;
  subjectId?: string;
  courseId?: string;
  assignmentId?: string;
  status?: WorkState;
  search?: string;
  sort?: ColumnName;
  down?: true;
}

const PLACES = ["classId", "subjectId", "courseId", "assignmentId", "search"] as const;

/** Parses the filters from the URL; ignores invalid values. */
export function parseSubmissionFilters(search: Record<string, unknown>): Filters {
  const found: Filters = {};
  for (const name of PLACES) {
    const value = search[name];
    if (typeof value === "string" && value.trim() !== "") found[name] = value;
    else if (typeof value === "number") found[name] = String(value);
  }
  const status = [...STATES, "ALL" as const].find((state) => state === search.status);
  if (status !== undefined) found.status = status;
  const sort = COLUMNS.find((column) => column === search.sort);
  if (sort !== undefined) found.sort = sort;
  if (sort !== undefined && search.down === true) found.down = true;
  return found;
}

/** The effective state filter: ungraded works by default, all works of a single topic, unless the URL sets another one. */
export const effectiveState = (filters: Filters): WorkState =>
  filters.status ?? (filters.assignmentId === undefined ? "UNGRADED" : "ALL");
