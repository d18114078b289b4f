// Submissions of all topics of a teacher, filtered by the URL.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { hasException, type PublicationFields, publicationState } from "../lesson/publication";
import { type ColumnName, type Filters, effectiveState } from "./filters";

export type SubmissionRow = Schemas["SubmissionOverviewRow"];
export type Stats = Schemas["SubmissionOverviewStats"];

export function submissionsQuery(filters: Filters) {
  const { classId, subjectId, courseId, assignmentId, search } = filters;
  const state = effectiveState(filters);
  const params = {
    ...(classId ? { classId } : {}),
    ...(subjectId ? { subjectId } : {}),
    ...(courseId ? { courseId } : {}),
    ...(assignmentId ? { assignmentId } : {}),
    ...(search ? { search } : {}),
    ...(state === "ALL" ? {} : { status: state }),
  };
  return infiniteQueryOptions({
    queryKey: queryKeys.submissions.overview(params),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/assignments/submissions/overview", {
          params: { query: pageParam === "" ? params : { ...params, cursor: pageParam } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
}

/** Options of the filters. Their keys begin with their nouns, so that changes there refetch them. */
export const classOptionsQuery = queryOptions({
  queryKey: queryKeys.classes.mine(),
  queryFn: () => unwrap(client.GET("/classes", { params: { query: { mine: "1" } } })),
});
export const courseOptionsQuery = queryOptions({
  queryKey: queryKeys.courses.list(),
  queryFn: () => unwrap(client.GET("/courses", { params: { query: {} } })),
});
export const subjectOptionsQuery = queryOptions({
  queryKey: queryKeys.subjects.list(),
  queryFn: () => unwrap(client.GET("/subjects", { params: { query: {} } })),
});

/** Numbers of groups that have submitted, have not submitted, and have a grade. Each group counts once. */
export const countShares = (stats: Stats) => ({
  graded: stats.graded,
  submitted: stats.submitted,
  missing: stats.notStarted + stats.inProgress + stats.returned,
});

/** Number of draft grades of a topic. */
export const countDraftGrades = (topic: Schemas["Assignment"] | undefined): number =>
  topic?.groupAssignments.filter(({ currentSubmission }) => {
    const grade = currentSubmission?.grade;
    return (
      grade?.status === "DRAFT" &&
      (grade.value !== null || grade.points !== null || grade.feedback !== null || grade.memberGrades.length > 0)
    );
  }).length ?? 0;

const WITHOUT_SUBMISSION: readonly string[] = ["NOT_STARTED", "IN_PROGRESS", "RETURNED"];

/** Whether work without documents can be recorded for a group: it sees the topic, and nothing is submitted now. */
export function canBeRecorded(
  topic: PublicationFields,
  work: PublicationFields & Pick<Schemas["GroupAssignment"], "status">,
  now: number,
): boolean {
  const publication = publicationState(hasException(work) ? work : topic, now);
  return publication === "published" && WITHOUT_SUBMISSION.includes(work.status);
}

const ORDER = ["SUBMITTED", "RETURNED", "IN_PROGRESS", "NOT_STARTED", "GRADED"];

/** Sorts after all other text. */
const LAST = "\uffff";

/** Sort keys of the columns. */
export const SORTS: Record<ColumnName, (row: SubmissionRow) => string | number> = {
  group: (row) => row.group.groupNumber,
  topic: (row) => row.assignment.title,
  submitted: (row) => row.currentSubmission?.submittedAt ?? LAST,
  status: (row) => ORDER.indexOf(row.groupAssignment.status),
  grade: (row) => row.currentSubmission?.grade?.points ?? row.currentSubmission?.grade?.value ?? LAST,
  files: (row) => row.currentSubmission?.documents.length ?? 0,
};
