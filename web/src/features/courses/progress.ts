// Progress of the groups of a topic.
import type { ListedAssignment, ListedGroup } from "../groups/groups";

export interface TopicProgress {
  groups: number;
  /** Number of submitted works, including graded ones. */
  handedIn: number;
  graded: number;
}

export function progressOf(topic: Pick<ListedAssignment, "stats" | "groupAssignments">): TopicProgress {
  const { stats } = topic;
  if (stats === undefined) return { groups: topic.groupAssignments.length, handedIn: 0, graded: 0 };
  return { groups: stats.groups, handedIn: stats.submitted + stats.graded, graded: stats.graded };
}

/** Number of groups of a topic that wait for help. */
export const countWaiting = (
  topicId: string,
  groups: readonly Pick<ListedGroup, "needsHelp" | "helpWithdrawnAt" | "groupAssignments">[],
): number =>
  groups.filter(
    (group) =>
      group.needsHelp &&
      group.helpWithdrawnAt === null &&
      group.groupAssignments.some((own) => own.assignmentId === topicId),
  ).length;
