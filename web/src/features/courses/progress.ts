// How far the groups of a topic are.
import type { ListedAssignment, ListedGroup } from "../groups/groups";

export interface TopicProgress {
  groups: number;
  /** Groups whose work is in, graded ones among them. */
  handedIn: number;
  graded: number;
}

export function progressOf(topic: Pick<ListedAssignment, "stats" | "groupAssignments">): TopicProgress {
  const { stats } = topic;
  if (stats === undefined) return { groups: topic.groupAssignments.length, handedIn: 0, graded: 0 };
  return { groups: stats.groups, handedIn: stats.submitted + stats.graded, graded: stats.graded };
}

/** How many groups on a topic wait for help. */
export const countWaiting = (topicId: string, groups: readonly Pick<ListedGroup, "needsHelp" | "groupAssignments">[]): number =>
  groups.filter((group) => group.needsHelp && group.groupAssignments.some((own) => own.assignmentId === topicId)).length;
