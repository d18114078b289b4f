// The grade book of a class: students by topics.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type GradeBookData = Schemas["GradeBook"];
export type GradeBookTopic = Schemas["GradeBookTopic"];
export type GradeBookStudent = Schemas["GradeBookStudent"];
export type GradeBookCell = Schemas["GradeBookCell"];

export const gradeBookQuery = (classId: string, courseId: string | undefined) =>
  queryOptions({
    queryKey: queryKeys.submissions.gradeBook(classId, courseId),
    queryFn: () =>
      unwrap(
        client.GET("/classes/{id}/grade-book", {
          params: { path: { id: classId }, query: courseId === undefined ? {} : { courseId } },
        }),
      ),
  });

/** The cell of each topic, `undefined` where the student has no group. */
export function cellsByTopic(
  student: GradeBookStudent,
  topics: readonly GradeBookTopic[],
): readonly (GradeBookCell | undefined)[] {
  const found = new Map(student.cells.map((cell) => [cell.assignmentId, cell]));
  return topics.map((topic) => found.get(topic.id));
}

/** What a cell shows, in order of precedence. */
export type CellState = "none" | "missing" | "graded" | "revise" | "ungraded" | "open";

export function cellState(cell: GradeBookCell | undefined): CellState {
  if (cell === undefined) return "none";
  if (cell.grade !== null) return "graded";
  if (cell.missing) return "missing";
  if (cell.status === "RETURNED") return "revise";
  return cell.status === "SUBMITTED" || cell.status === "GRADED" ? "ungraded" : "open";
}

/** Students whose name contains all words of the search, in any order. */
export function matchingStudents(students: readonly GradeBookStudent[], search: string): readonly GradeBookStudent[] {
  const words = fold(search).split(/\s+/).filter(Boolean);
  return students.filter((student) => {
    const name = fold(`${student.firstName} ${student.lastName}`);
    return words.every((word) => name.includes(word));
  });
}

const fold = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** The address of the table for spreadsheets: German ones expect semicolons and decimal commas. */
export function tableUrl(classId: string, courseId: string | undefined, language: string): string {
  const query = new URLSearchParams({
    language,
    delimiter: language === "de" ? ";" : ",",
    ...(courseId === undefined ? {} : { courseId }),
  });
  return `/api/classes/${classId}/grade-book.csv?${query.toString()}`;
}
