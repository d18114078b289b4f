// API calls of the group maker.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Problem, type Schemas } from "../../api/client";
import type { ListedGroup } from "../groups/groups";
import { queryKeys } from "../../api/queryKeys";
import {
  type MembershipChange,
  countGroups,
  newGroups,
  type PlanColumn,
  type Plan,
  type Size,
  type Wish,
} from "./plan";

export type CourseDetail = Schemas["CourseDetail"];
export type Strategy = Schemas["Strategy"];

/** A student as shown on a card. */
export interface Student {
  id: string;
  name: string;
}

/** The students of a class, sorted by name. */
export const studentsQuery = (classId: string) =>
  queryOptions({
    queryKey: queryKeys.classes.names(classId),
    queryFn: async (): Promise<Student[]> =>
      (await unwrap(client.GET("/classes/{id}/students", { params: { path: { id: classId } } }))).map((one) =>
        "user" in one ? one.user : one,
      ),
  });

/** All groups of a class: their numbers are taken, in any course. */
export const classGroupsQuery = (classId: string) =>
  queryOptions({
    queryKey: queryKeys.groups.ofClass(classId),
    queryFn: async () =>
      (await unwrap(client.GET("/groups", { params: { query: { classId } } }))).filter(
        (group) => group.view === "FULL",
      ),
  });

/** The groups of a course as columns of the plan. */
export const columnsOf = (groups: readonly ListedGroup[], courseId: string): Omit<PlanColumn, "members">[] =>
  groups
    .filter((group) => group.courseId === courseId)
    .map((group) => ({
      key: group.id,
      groupId: group.id,
      number: group.groupNumber,
      name: group.displayName ?? group.name,
      savedMembers: group.members.map((member) => member.userId),
    }));

/** Whether a group works on finished topics only; its members must stay, because their work was graded. */
export const isFinished = (group: ListedGroup): boolean =>
  group.groupAssignments.length > 0 && group.groupAssignments.every((own) => own.assignment.status === "FINISHED");

/** Requests a division from the service, which knows who has worked together before. Saves nothing. */
export async function requestDivision(
  course: CourseDetail,
  studentIds: readonly string[],
  size: Size,
  strategy: Strategy,
  wishes: readonly Wish[],
): Promise<{ groups: string[][]; repeated: number }> {
  const kept = (kind: Wish["kind"]) =>
    wishes
      .filter((wish) => wish.kind === kind)
      .map((wish) => wish.students.filter((student) => studentIds.includes(student)))
      .filter((set) => set.length > 1);
  const answer = await unwrap(
    client.POST("/groups/generate", {
      params: { query: { dryRun: "1" } },
      body: {
        classId: course.classId,
        courseId: course.id,
        groupCount: countGroups(studentIds.length, size),
        strategy,
        studentIds: [...studentIds],
        keepApart: kept("apart"),
        keepTogether: kept("together"),
      },
    }),
  );
  if (!("dryRun" in answer)) throw new Error("the service made groups instead of showing them");
  return {
    groups: answer.groups.map((group) => group.members.map((member) => member.id)),
    repeated: answer.repeatedPairs,
  };
}

/** Creates the new groups, all or none. */
export const createGroups = (
  course: CourseDetail,
  plan: Plan,
  startDate: string | null,
  assignmentId: string | null,
): Promise<ListedGroup[]> =>
  unwrap(
    client.POST("/groups/batch", {
      body: {
        classId: course.classId,
        courseId: course.id,
        ...(assignmentId === null ? {} : { assignmentId }),
        groups: newGroups(plan).map((column) => ({
          name: column.name,
          groupNumber: column.number,
          studentIds: [...column.members],
          ...(startDate === null ? {} : { startDate }),
        })),
      },
    }),
  );

/** A rejected change with its error. */
export interface FailedChange {
  change: MembershipChange;
  problem: unknown;
}

/** Saves changes of existing groups one by one; a rejected change does not stop the others. */
export async function applyChanges(changes: readonly MembershipChange[]): Promise<FailedChange[]> {
  const failures: FailedChange[] = [];
  for (const change of changes) {
    // oxlint-disable-next-line no-await-in-loop -- sequential, so that a student who changes groups is never in both
    await applyChange(change).catch((problem: Problem) => failures.push({ change, problem }));
  }
  return failures;
}

function applyChange({ student, from, to }: MembershipChange): Promise<unknown> {
  if (from !== null && to !== null)
    return unwrap(
      client.POST("/groups/{id}/members/{userId}/move", {
        params: { path: { id: from, userId: student } },
        body: { toGroupId: to },
      }),
    );
  if (to !== null)
    return unwrap(
      client.POST("/groups/{id}/members", { params: { path: { id: to } }, body: { studentIds: [student] } }),
    );
  return unwrap(
    client.DELETE("/groups/{id}/members/{userId}", { params: { path: { id: from ?? "", userId: student } } }),
  );
}
