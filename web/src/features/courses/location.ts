// The location in the folders of courses, stored in the URL. A file of its own, because the first load of every page parses URLs.

export const STATUSES = ["ACTIVE", "ARCHIVED", "ALL"] as const;
export type StatusFilter = (typeof STATUSES)[number];

/** The location stored in the URL: a class, a subject in it or in all classes, or work without a course; plus owner and status filters. */
export interface FolderLocation {
  class?: string;
  subject?: string;
  status?: Exclude<StatusFilter, "ACTIVE">;
  /** Includes classes of other teachers. */
  everyone?: true;
  /** Groups and topics without a course. */
  loose?: true;
}

export function parseLocation(search: Record<string, unknown>): FolderLocation {
  const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
  const within = text(search.class);
  const subject = text(search.subject);
  const status = search.status === "ARCHIVED" || search.status === "ALL" ? search.status : undefined;
  return {
    ...(within ? { class: within } : {}),
    ...(subject ? { subject } : {}),
    ...(status ? { status } : {}),
    ...(search.everyone === true ? { everyone: true as const } : {}),
    ...(search.loose === true ? { loose: true as const } : {}),
  };
}
