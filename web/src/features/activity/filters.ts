// Filters of the activity log. Every visit loads this module because the URL holds the filters; it is separate from the code
// that reads the log.
import type { Schemas } from "../../api/client";

export type Category = Schemas["Category"];

export const CATEGORIES = [
  "CLASS",
  "HOMEROOM",
  "SUBJECT",
  "COURSE",
  "GROUP",
  "ASSIGNMENT",
  "SUBMISSION",
  "DOCUMENT",
  "FEEDBACK",
  "USER",
  "TENANT",
  "AUTH",
] as const satisfies readonly Category[];
export const PERIODS = ["today", "week", "month"] as const;

/** The filters, as stored in the URL. */
export interface ActivityFilterValues {
  classId?: string;
  groupId?: string;
  category?: Category;
  userId?: string;
  period?: (typeof PERIODS)[number];
}

/** Parses the filters from the URL; invalid values are ignored. */
export function parseActivityFilters(search: Record<string, unknown>): ActivityFilterValues {
  const text = (key: "classId" | "groupId" | "userId") =>
    typeof search[key] === "string" ? { [key]: search[key] } : {};
  const category = CATEGORIES.find((one) => one === search.category);
  const period = PERIODS.find((one) => one === search.period);
  return {
    ...text("classId"),
    ...text("groupId"),
    ...text("userId"),
    ...(category ? { category } : {}),
    ...(period ? { period } : {}),
  };
}
