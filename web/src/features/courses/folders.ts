// Courses as folders: class, subject, course. Builds the tree and interprets selections in it.
import { type Class, isManaged } from "../classes/classes";
import { compareNames } from "../../i18n/names";
import type { Course } from "./courses";
import { type StatusFilter, type FolderLocation } from "./location";

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

/** A course of an archived class counts as archived, whatever its own status. */
export const isArchived = (course: Course): boolean =>
  course.status === "ARCHIVED" || course.class.status === "ARCHIVED";

const matchesStatus = (isOld: boolean, status: StatusFilter): boolean =>
  status === "ALL" || isOld === (status === "ARCHIVED");

/**
 * Builds the folders of a location. Empty classes with the wanted status are included, so that a first course can be added;
 * so is the class that the URL names.
 */
export function buildFolders(
  classes: readonly Class[],
  courses: readonly Course[],
  location: FolderLocation,
): ClassFolder[] {
  const status = location.status ?? "ACTIVE";
  const shown = courses.filter((course) => matchesStatus(isArchived(course), status));
  return classes
    .filter((one) => location.everyone === true || isManaged(one) || one.id === location.class)
    .map((one) => ({
      of: one,
      subjects: subjectFolders(
        one,
        shown.filter((course) => course.classId === one.id),
      ),
    }))
    .filter(
      (folder) =>
        folder.of.id === location.class ||
        matchesStatus(folder.of.status === "ARCHIVED", status) ||
        folder.subjects.some((subject) => subject.courses.length > 0),
    );
}

function subjectFolders(within: Class, courses: readonly Course[]): SubjectFolder[] {
  const found = new Map<string, SubjectFolder>();
  for (const subject of [...(within.subjects ?? []), ...courses.map((course) => course.subject)]) {
    if (!found.has(subject.id)) {
      found.set(subject.id, {
        id: subject.id,
        name: subject.name,
        color: subject.color ?? null,
        courses: courses.filter((course) => course.subjectId === subject.id),
      });
    }
  }
  return [...found.values()].toSorted((one, other) => compareNames(one.name, other.name));
}

/** The courses at a location, sorted by class, subject and name. */
export function coursesAt(folders: readonly ClassFolder[], location: FolderLocation): Course[] {
  return folders
    .filter((folder) => location.class === undefined || folder.of.id === location.class)
    .flatMap((folder) => folder.subjects)
    .filter((subject) => location.subject === undefined || subject.id === location.subject)
    .flatMap((subject) => subject.courses);
}

/** Ids of the tree nodes that lead to a location. */
export const nodeIdsOf = (location: FolderLocation): string =>
  location.loose
    ? "loose"
    : location.class === undefined
      ? "all"
      : location.subject === undefined
        ? `class:${location.class}`
        : `subject:${location.class}:${location.subject}`;

/** Parses the id of a tree node: a folder location, a course or a group. */
export function parseNodeId(
  nodeId: string,
): { location: Pick<FolderLocation, "class" | "subject" | "loose"> } | { course: string } | { group: string } {
  const [kind, first = "", second = ""] = nodeId.split(":");
  if (kind === "course") return { course: first };
  if (kind === "group") return { group: first };
  if (kind === "class") return { location: { class: first } };
  if (kind === "subject") return { location: { class: first, subject: second } };
  return { location: kind === "loose" ? { loose: true } : {} };
}

/** The number of groups and topics of the managed classes that belong to no course, from the counts of both lists. */
export function countUnassigned(classes: readonly Class[], courses: readonly Course[]): number {
  const managed = classes.filter((one) => isManaged(one));
  const ids = new Set(managed.map((one) => one.id));
  const sum = (counts: Iterable<{ groups: number; assignments: number }>) =>
    [...counts].reduce((total, { groups, assignments }) => total + groups + assignments, 0);
  const inClasses = sum(managed.flatMap((one) => one.counts ?? []));
  return Math.max(
    0,
    inClasses - sum(courses.filter((course) => ids.has(course.classId)).map((course) => course.counts)),
  );
}

/** The subjects of these classes and courses, sorted by name. */
export function subjectsOf(classes: readonly Class[], courses: readonly Course[]): { id: string; name: string }[] {
  const all = [...classes.flatMap((one) => one.subjects ?? []), ...courses.map((course) => course.subject)];
  return [...new Map(all.map(({ id, name }) => [id, { id, name }])).values()].toSorted((one, other) =>
    compareNames(one.name, other.name),
  );
}
