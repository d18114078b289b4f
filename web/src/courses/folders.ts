// Courses as folders: class, subject, course. What is in which, and what a choice in the tree means.
import { type Class, isManaged } from "../classes/classes";
import { compareNames } from "../lib/names";
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
export interface Place {
  class?: string;
  subject?: string;
  status?: Exclude<Status, "ACTIVE">;
  /** Classes of colleagues, too. */
  everyone?: true;
  /** What belongs to no course. */
  loose?: true;
}

export function placeOf(search: Record<string, unknown>): Place {
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

const fits = (isOld: boolean, status: Status): boolean => status === "ALL" || isOld === (status === "ARCHIVED");

/**
 * The folders of what is shown. A class of that status has one though it is empty, so that its first course finds a place; the one
 * that the address names is always there.
 */
export function folders(classes: readonly Class[], courses: readonly Course[], place: Place): ClassFolder[] {
  const status = place.status ?? "ACTIVE";
  const shown = courses.filter((course) => fits(isArchived(course), status));
  return classes
    .filter((one) => place.everyone === true || isManaged(one) || one.id === place.class)
    .map((one) => ({ of: one, subjects: subjectsOf(one, shown.filter((course) => course.classId === one.id)) }))
    .filter((folder) => folder.of.id === place.class || fits(folder.of.status === "ARCHIVED", status) || folder.subjects.some((subject) => subject.courses.length > 0));
}

function subjectsOf(within: Class, courses: readonly Course[]): SubjectFolder[] {
  const found = new Map<string, SubjectFolder>();
  for (const subject of [...(within.subjects ?? []), ...courses.map((course) => course.subject)]) {
    if (!found.has(subject.id)) {
      found.set(subject.id, { id: subject.id, name: subject.name, color: subject.color ?? null, courses: courses.filter((course) => course.subjectId === subject.id) });
    }
  }
  return [...found.values()].toSorted((one, other) => compareNames(one.name, other.name));
}

/** The courses of a place, by class, subject and name. */
export function coursesIn(found: readonly ClassFolder[], place: Place): Course[] {
  return found
    .filter((folder) => place.class === undefined || folder.of.id === place.class)
    .flatMap((folder) => folder.subjects)
    .filter((subject) => place.subject === undefined || subject.id === place.subject)
    .flatMap((subject) => subject.courses);
}

/** The lines of the tree that lead to a place. */
export const lineOf = (place: Place): string =>
  place.loose ? "loose" : place.class === undefined ? "all" : place.subject === undefined ? `class:${place.class}` : `subject:${place.class}:${place.subject}`;

/** Where a line of the tree leads: to a place among the folders, a course or a group. */
export function leadsTo(line: string): { place: Pick<Place, "class" | "subject" | "loose"> } | { course: string } | { group: string } {
  const [kind, first = "", second = ""] = line.split(":");
  if (kind === "course") return { course: first };
  if (kind === "group") return { group: first };
  if (kind === "class") return { place: { class: first } };
  if (kind === "subject") return { place: { class: first, subject: second } };
  return { place: kind === "loose" ? { loose: true } : {} };
}
