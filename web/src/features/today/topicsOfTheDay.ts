// Sorts the topics of a teacher into the sections of the start page.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap } from "../../api/client";
import type { ListedAssignment } from "../groups/groups";
import { queryKeys } from "../../api/queryKeys";
import { publicationState } from "../lesson/publication";

const DAY = 86_400_000;

export interface TopicsOfTheDay {
  /** Open, with a deadline less than a day away. */
  running: ListedAssignment[];
  /** Open, with a later deadline or not published yet. */
  next: ListedAssignment[];
  /** The deadline passed a day ago or more, and the topic is not finished. */
  overdue: ListedAssignment[];
  /** Has submissions without a grade. */
  toGrade: ListedAssignment[];
}

/** Sorts the topics into sections, each by deadline. */
export function sortIntoDay(topics: readonly ListedAssignment[], at: number): TopicsOfTheDay {
  const byEnd = topics.toSorted((one, other) => one.deadline.localeCompare(other.deadline));
  const active = byEnd.filter((topic) => topic.status === "ACTIVE");
  const isPublished = (topic: ListedAssignment) => publicationState(topic, at) === "published";
  const open = active.filter(isPublished);
  const ends = (topic: ListedAssignment) => Date.parse(topic.deadline) - at;
  return {
    // Overdue topics come after the current ones, latest deadline first.
    running: [
      ...open.filter((topic) => ends(topic) >= 0 && ends(topic) < DAY),
      ...open.filter((topic) => ends(topic) < 0 && ends(topic) > -DAY).toReversed(),
    ],
    next: active.filter((topic) => ends(topic) >= DAY || !isPublished(topic)),
    overdue: open.filter((topic) => ends(topic) <= -DAY),
    toGrade: byEnd.filter((topic) => ungradedGroups(topic).length > 0),
  };
}

/** Groups of a topic with ungraded work, by number. */
export const ungradedGroups = (topic: ListedAssignment) =>
  topic.groupAssignments
    .filter((own) => own.status === "SUBMITTED")
    .toSorted((one, other) => one.group.groupNumber - other.group.groupNumber);

/** Submission time of the longest waiting work. */
export const longestWaitingSince = (topic: ListedAssignment): string | undefined =>
  ungradedGroups(topic)
    .map((own) => own.currentSubmission?.submittedAt)
    .filter((moment) => moment !== undefined)
    .toSorted()[0];

/** Number of help requests per topic. */
export const helpCountsQuery = queryOptions({
  queryKey: queryKeys.groups.waiting(),
  queryFn: async () =>
    (await unwrap(client.GET("/groups", { params: { query: { needsHelp: "1", mine: "1" } } })))
      .filter((group) => group.view === "FULL")
      .filter((group) => group.helpWithdrawnAt === null),
  select: (groups) => {
    const counts = new Map<string, number>();
    for (const group of groups)
      for (const own of group.groupAssignments) counts.set(own.assignmentId, (counts.get(own.assignmentId) ?? 0) + 1);
    return counts;
  },
});
