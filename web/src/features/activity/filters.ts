// What of the activity log is shown. The address holds it, so every visit fetches this: it stands apart from what reads the log.
import type { Schemas } from "../../api/client";

export type Category = Schemas["Category"];

export const CATEGORIES = ["CLASS", "HOMEROOM", "SUBJECT", "COURSE", "GROUP", "ASSIGNMENT", "SUBMISSION", "DOCUMENT", "FEEDBACK", "USER", "TENANT", "AUTH"] as const satisfies readonly Category[];
export const PERIODS = ["today", "week", "month"] as const;

/** What of the log is shown; the address holds it. */
export interface ActivityFilterValues {
  classId?: string;
  groupId?: string;
  category?: Category;
  userId?: string;
  period?: (typeof PERIODS)[number];
}

/** What an address asks for; what makes no sense is as if it was not there. */
export function parseFilters(search: Record<string, unknown>): ActivityFilterValues {
  const text = (key: "classId" | "groupId" | "userId") => (typeof search[key] === "string" ? { [key]: search[key] } : {});
  const category = CATEGORIES.find((one) => one === search.category);
  const period = PERIODS.find((one) => one === search.period);
  return { ...text("classId"), ...text("groupId"), ...text("userId"), ...(category ? { category } : {}), ...(period ? { period } : {}) };
}
