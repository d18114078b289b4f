// Queries of groups and topics for the start pages, and their sorting.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

/** Groups and topics as list items; submissions and feedback are fetched with the opened object. */
export type ListedGroup = Schemas["GroupListItem"];
export type ListedAssignment = Schemas["AssignmentListItem"];

/** The groups of the user, or of the classes the user teaches. */
export const myGroupsQuery = queryOptions({
  queryKey: queryKeys.groups.mine(),
  queryFn: async () =>
    (await unwrap(client.GET("/groups", { params: { query: { mine: "1" } } }))).filter(
      (group) => group.view === "FULL",
    ),
  // No event announces the start of a group, so students learn of it by polling.
  refetchInterval: 300_000,
});

/** The topics of the classes the user teaches. */
export const assignmentsQuery = queryOptions({
  queryKey: queryKeys.assignments.mine(),
  queryFn: async () =>
    (await unwrap(client.GET("/assignments", { params: { query: {} } }))).filter((topic) => topic.view === "FULL"),
});

/** The topic a group works on: the next deadline, else the latest past one. */
export function nearestTopic(group: ListedGroup) {
  const open = group.groupAssignments.filter((own) => own.assignment.status === "ACTIVE");
  const by = (one: { assignment: { deadline: string } }, other: { assignment: { deadline: string } }) =>
    one.assignment.deadline.localeCompare(other.assignment.deadline);
  return open.toSorted(by)[0] ?? group.groupAssignments.toSorted(by).at(-1);
}

/** Sorts by deadline: open topics first, then groups without a topic, then finished ones. */
export function sortGroups(groups: readonly ListedGroup[]): { open: ListedGroup[]; finished: ListedGroup[] } {
  const isFinished = (group: ListedGroup) => nearestTopic(group)?.assignment.status === "FINISHED";
  const key = (group: ListedGroup) => nearestTopic(group)?.assignment.deadline ?? "9999";
  const sorted = groups.toSorted((one, other) => key(one).localeCompare(key(other)));
  return { open: sorted.filter((group) => !isFinished(group)), finished: sorted.filter(isFinished) };
}
