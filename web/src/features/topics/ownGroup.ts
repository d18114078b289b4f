import type { QueryClient } from "@tanstack/react-query";
import { notFound, redirect } from "@tanstack/react-router";

import { myGroupsQuery } from "../groups/groups";

/** Redirects a student to the work room of their group that works on a topic; for others the page does not exist. */
export async function redirectToOwnGroup(cache: QueryClient, topicId: string): Promise<never> {
  const groups = await cache.fetchQuery(myGroupsQuery);
  const own = groups.find((group) => group.groupAssignments.some((one) => one.assignmentId === topicId));
  if (own === undefined) throw notFound();
  throw redirect({ to: "/groups/$groupId", params: { groupId: own.id }, search: { topic: topicId } });
}
