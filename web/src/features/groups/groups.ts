// Groups and topics as the service tells them, and what the start pages make of them.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

/** Groups and topics as lists show them; what was handed in and what came back is fetched with the one that is opened. */
export type ListedGroup = Schemas["GroupListItem"];
export type ListedAssignment = Schemas["AssignmentListItem"];

/** The groups the caller is in, or that belong to a class he teaches. */
export const myGroupsQuery = queryOptions({
  queryKey: queryKeys.groups.mine(),
  queryFn: async () => (await unwrap(client.GET("/groups", { params: { query: { mine: "1" } } }))).filter((group) => group.view === "FULL"),
  // Nobody is told the moment a group begins; looking again is how a student learns of it.
  refetchInterval: 300_000,
});

/** The topics of the classes the caller teaches. */
export const assignmentsQuery = queryOptions({
  queryKey: queryKeys.assignments.mine(),
  queryFn: async () => (await unwrap(client.GET("/assignments", { params: { query: {} } }))).filter((topic) => topic.view === "FULL"),
});

/** The topic a group works on: the one that ends next, else the one that ended last. */
export function nearestTopic(group: ListedGroup) {
  const open = group.groupAssignments.filter((own) => own.assignment.status === "ACTIVE");
  const by = (one: { assignment: { deadline: string } }, other: { assignment: { deadline: string } }) =>
    one.assignment.deadline.localeCompare(other.assignment.deadline);
  return open.toSorted(by)[0] ?? group.groupAssignments.toSorted(by).at(-1);
}

/** Open topics first, by the time they end; groups without a topic after them, finished ones last. */
export function sortGroups(groups: readonly ListedGroup[]): { open: ListedGroup[]; finished: ListedGroup[] } {
  const isFinished = (group: ListedGroup) => nearestTopic(group)?.assignment.status === "FINISHED";
  const key = (group: ListedGroup) => nearestTopic(group)?.assignment.deadline ?? "9999";
  const sorted = groups.toSorted((one, other) => key(one).localeCompare(key(other)));
  return { open: sorted.filter((group) => !isFinished(group)), finished: sorted.filter(isFinished) };
}
