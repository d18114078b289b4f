// Courses as folders: class, subject, course. What is in which, and what a choice in the tree means.
import { type Class, isManaged } from "../classes/classes";
import { compareNames } from "../../i18n/names";
import type { Course } from "./courses";

export interface SubjectFolder {
  id: string;
  name: string;
  color: string | null;
  courses: Course[];
}

export interface ClassFolder {
  of: Class;
  subjects: SubjectFolder[];
}

export const STATUSES = ["ACTIVE", "ARCHIVED", "ALL"] as const;
export type Status = (typeof STATUSES)[number];

/** What the address says is shown: a class, a subject in it or everywhere, what is in no course; whose, and of which status. */
export interface FolderLocation {
  class?: string;
  subject?: string;
  status?: Exclude<Status, "ACTIVE">;
  /** Classes of colleagues, too. */
  everyone?: true;
  /** What belongs to no course. */
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

/** A course of an archived class is archived, whatever it says itself. */
export const isArchived = (course: Course): boolean => course.status === "ARCHIVED" || course.class.status === "ARCHIVED";

const matchesStatus = (isOld: boolean, status: Status): boolean => status === "ALL" || isOld === (status === "ARCHIVED");

/**
 * The folders of what is shown. A class of that status has one though it is empty, so that its first course finds a place; the one
 * that the address names is always there.
 */
export function buildFolders(classes: readonly Class[], courses: readonly Course[], location: FolderLocation): ClassFolder[] {
  const status = location.status ?? "ACTIVE";
  const shown = courses.filter((course) => matchesStatus(isArchived(course), status));
  return classes
    .filter((one) => location.everyone === true || isManaged(one) || one.id === location.class)
    .map((one) => ({ of: one, subjects: subjectFolders(one, shown.filter((course) => course.classId === one.id)) }))
    .filter((folder) => folder.of.id === location.class || matchesStatus(folder.of.status === "ARCHIVED", status) || folder.subjects.some((subject) => subject.courses.length > 0));
}

function subjectFolders(within: Class, courses: readonly Course[]): SubjectFolder[] {
  const found = new Map<string, SubjectFolder>();
  for (const subject of [...(within.subjects ?? []), ...courses.map((course) => course.subject)]) {
    if (!found.has(subject.id)) {
      found.set(subject.id, { id: subject.id, name: subject.name, color: subject.color ?? null, courses: courses.filter((course) => course.subjectId === subject.id) });
    }
  }
  return [...found.values()].toSorted((one, other) => compareNames(one.name, other.name));
}

/** The courses of a place, by class, subject and name. */
export function coursesAt(folders: readonly ClassFolder[], location: FolderLocation): Course[] {
  return folders
    .filter((folder) => location.class === undefined || folder.of.id === location.class)
    .flatMap((folder) => folder.subjects)
    .filter((subject) => location.subject === undefined || subject.id === location.subject)
    .flatMap((subject) => subject.courses);
}

/** The lines of the tree that lead to a place. */
export const nodeIdsOf = (location: FolderLocation): string =>
  location.loose ? "loose" : location.class === undefined ? "all" : location.subject === undefined ? `class:${location.class}` : `subject:${location.class}:${location.subject}`;

/** Where a line of the tree leads: to a place among the folders, a course or a group. */
export function parseNodeId(nodeId: string): { location: Pick<FolderLocation, "class" | "subject" | "loose"> } | { course: string } | { group: string } {
  const [kind, first = "", second = ""] = nodeId.split(":");
  if (kind === "course") return { course: first };
  if (kind === "group") return { group: first };
  if (kind === "class") return { location: { class: first } };
  if (kind === "subject") return { location: { class: first, subject: second } };
  return { location: kind === "loose" ? { loose: true } : {} };
}
