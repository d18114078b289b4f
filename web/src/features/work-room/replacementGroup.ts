// Where a student belongs who is not in a group any more.

/** What is known of a group. */
interface CandidateGroup {
  id: string;
  classId: string;
  courseId: string | null;
  groupAssignments: readonly { assignmentId: string }[];
}

/** What was known of the group that was left. */
export interface FormerGroup {
  groupId: string;
  classId?: string | undefined;
  courseId?: string | null | undefined;
  topicIds: readonly string[];
}

/**
 * The group in place of the one that was left: one that works on the same topic, else one of the same course. Of a
 * group that this page never saw nothing is known: then the only one there is. Nothing when that is not certain.
 */
export function findReplacementGroup<G extends CandidateGroup>(mine: readonly G[], left: FormerGroup): G | undefined {
  const others = mine.filter((group) => group.id !== left.groupId);
  const onTopic = others.filter((group) => group.groupAssignments.some((own) => left.topicIds.includes(own.assignmentId)));
  const inCourse = others.filter((group) => group.classId === left.classId && group.courseId === left.courseId);
  for (const found of left.classId === undefined ? [onTopic, others] : [onTopic, inCourse]) if (found.length > 0) return found.length === 1 ? found[0] : undefined;
  return undefined;
}
