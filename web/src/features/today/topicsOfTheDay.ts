// What a teacher's day is made of, out of the topics of the own classes.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap } from "../../api/client";
import type { ListedAssignment } from "../groups/groups";
import { queryKeys } from "../../api/queryKeys";

const DAY = 86_400_000;

export interface TopicsOfTheDay {
  /** Open, and its end is less than a day away: the lesson of now. */
  running: ListedAssignment[];
  /** Open, and its end is later. */
  next: ListedAssignment[];
  /** Its end passed a day ago or more, and nobody finished it. */
  overdue: ListedAssignment[];
  /** Something was handed in that has no grade yet. */
  toGrade: ListedAssignment[];
}

/** Sorts the topics into the parts of the day; each part by the time the topics end. */
export function sortIntoDay(topics: readonly ListedAssignment[], at: number): TopicsOfTheDay {
  const byEnd = topics.toSorted((one, other) => one.deadline.localeCompare(other.deadline));
  const open = byEnd.filter((topic) => topic.status === "ACTIVE");
  const ends = (topic: ListedAssignment) => Date.parse(topic.deadline) - at;
  return {
    // What is over but not finished comes after what still runs, the latest end first.
    running: [...open.filter((topic) => ends(topic) >= 0 && ends(topic) < DAY), ...open.filter((topic) => ends(topic) < 0 && ends(topic) > -DAY).toReversed()],
    next: open.filter((topic) => ends(topic) >= DAY),
    overdue: open.filter((topic) => ends(topic) <= -DAY),
    toGrade: byEnd.filter((topic) => ungradedGroups(topic).length > 0),
  };
}

/** The groups of a topic whose work waits for a grade, by their number. */
export const ungradedGroups = (topic: ListedAssignment) =>
  topic.groupAssignments.filter((own) => own.status === "SUBMITTED").toSorted((one, other) => one.group.groupNumber - other.group.groupNumber);

/** Since when the longest waiting of them waits. */
export const longestWaitingSince = (topic: ListedAssignment): string | undefined =>
  ungradedGroups(topic)
    .map((own) => own.currentSubmission?.submittedAt)
    .filter((moment) => moment !== undefined)
    .toSorted()[0];

/** How many groups of each topic wait for help. */
export const helpCountsQuery = queryOptions({
  queryKey: queryKeys.groups.waiting(),
  queryFn: async () => (await unwrap(client.GET("/groups", { params: { query: { needsHelp: "1", mine: "1" } } }))).filter((group) => group.view === "FULL"),
  select: (groups) => {
    const counts = new Map<string, number>();
    for (const group of groups) for (const own of group.groupAssignments) counts.set(own.assignmentId, (counts.get(own.assignmentId) ?? 0) + 1);
    return counts;
  },
});
