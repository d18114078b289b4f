// Finds the current group of a student who was removed from a group.

/** A group of the student. */
interface CandidateGroup {
  id: string;
  classId: string;
  courseId: string | null;
  groupAssignments: readonly { assignmentId: string }[];
}

/** The group that the student was removed from. */
export interface FormerGroup {
  groupId: string;
  classId?: string | undefined;
  courseId?: string | null | undefined;
  topicIds: readonly string[];
}

/**
 * Returns the group that replaces the former one: one with the same topic, else one of the same course. If the page never
 * loaded the former group, the only remaining one. Returns nothing when the choice is ambiguous.
 */
export function findReplacementGroup<G extends CandidateGroup>(mine: readonly G[], left: FormerGroup): G | undefined {
  const others = mine.filter((group) => group.id !== left.groupId);
  const onTopic = others.filter((group) =>
    group.groupAssignments.some((own) => left.topicIds.includes(own.assignmentId)),
  );
  const inCourse = others.filter((group) => group.classId === left.classId && group.courseId === left.courseId);
  for (const found of left.classId === undefined ? [onTopic, others] : [onTopic, inCourse])
    if (found.length > 0) return found.length === 1 ? found[0] : undefined;
  return undefined;
}
