// Sorts the topics of a teacher into the sections of the start page.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap } from "../../api/client";
import type { ListedAssignment } from "../groups/groups";
import { queryKeys } from "../../api/queryKeys";
import { lessonTimes } from "./lessonTimes";
import { publicationState } from "../lesson/publication";

const DAY = 86_400_000;

export interface TopicsOfTheDay {
  /** Open, and the class has a lesson now; without a timetable, with a deadline less than a day away. */
  running: ListedAssignment[];
  /** Open, but not running, or not published yet. */
  next: ListedAssignment[];
  /** The deadline has passed, the topic is not finished, and it is not running. */
  overdue: ListedAssignment[];
  /** Has submissions without a grade. */
  toGrade: ListedAssignment[];
}

/** Sorts the topics into sections, each by deadline. `zone` is the time zone of the school. */
export function sortIntoDay(topics: readonly ListedAssignment[], zone: string, at: number): TopicsOfTheDay {
  const byEnd = topics.toSorted((one, other) => one.deadline.localeCompare(other.deadline));
  const active = byEnd.filter((topic) => topic.status === "ACTIVE");
  const isOver = (topic: ListedAssignment) => Date.parse(topic.deadline) < at;
  const isRunning = (topic: ListedAssignment) => {
    if (publicationState(topic, at) !== "published") return false;
    if (topic.class.schedule?.length) return lessonTimes(topic.class.schedule, zone, at).current !== undefined;
    return Math.abs(Date.parse(topic.deadline) - at) < DAY;
  };
  const running = active.filter(isRunning);
  const others = active.filter((topic) => !isRunning(topic));
  const isOverdue = (topic: ListedAssignment) => isOver(topic) && publicationState(topic, at) === "published";
  return {
    // Overdue topics come after the current ones, latest deadline first.
    running: [...running.filter((topic) => !isOver(topic)), ...running.filter(isOver).toReversed()],
    next: others.filter((topic) => !isOverdue(topic)),
    overdue: others.filter(isOverdue),
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
