// Requests of the copy dialog: one per target, so that each target succeeds or fails as a whole.
import { client, unwrap, type Schemas } from "../../api/client";

/** What is copied. */
export type CopySource =
  | { kind: "topics"; topics: readonly CopiedTopic[]; classId: string; courseId: string | null }
  | { kind: "course"; course: { id: string; name: string; classId: string } };

export interface CopiedTopic {
  id: string;
  title: string;
  deadline: string;
}

export interface CopyChoice {
  /** The topics to copy; of a course, all are copied. */
  topicIds: readonly string[];
  /** Ids of courses for topics, ids of classes for a course. */
  targetIds: readonly string[];
  /** How dates are shifted: to the school year of the target, by weeks, or for a single topic to a deadline. */
  dates: "year" | "weeks" | "deadline";
  weeks: number;
  deadline: string | null;
  withFiles: boolean;
  groups: Schemas["GroupsOfCopy"];
  publication: Schemas["PublicationOfCopy"];
}

type Copies = Schemas["Copies"];

const options = (choice: CopyChoice) => ({
  withFiles: choice.withFiles,
  groups: choice.groups,
  publication: choice.publication,
  ...(choice.dates === "weeks" ? { shiftDays: choice.weeks * 7 } : {}),
});

/** The body of a request that copies topics. */
export const topicsBody = (choice: CopyChoice): Schemas["NewTopicCopies"] => ({
  assignmentIds: [...choice.topicIds],
  ...options(choice),
  ...(choice.dates === "deadline" && choice.topicIds.length === 1 && choice.deadline !== null
    ? { deadline: choice.deadline }
    : {}),
});

/** Copies into one target; a dry run only tells what would be created. */
export async function copyInto(
  source: CopySource,
  choice: CopyChoice,
  targetId: string,
  isDry: boolean,
): Promise<Copies> {
  const params = { path: { id: targetId }, query: isDry ? { dryRun: "1" as const } : {} };
  return source.kind === "topics"
    ? unwrap(client.POST("/courses/{id}/copies", { params, body: topicsBody(choice) }))
    : unwrap(client.POST("/classes/{id}/copies", { params, body: { courseId: source.course.id, ...options(choice) } }));
}

export type TargetResult = { targetId: string; copies: Copies } | { targetId: string; problem: unknown };

/** Copies into several targets, one after the other; a failure does not stop the others. */
export async function copyIntoAll(
  source: CopySource,
  choice: CopyChoice,
  targetIds: readonly string[],
  isDry: boolean,
): Promise<TargetResult[]> {
  const results: TargetResult[] = [];
  for (const targetId of targetIds) {
    // oxlint-disable-next-line no-await-in-loop -- sequential: the targets may share a class, which each copy locks
    results.push(
      await copyInto(source, choice, targetId, isDry).then(
        (copies) => ({ targetId, copies }),
        (problem: unknown) => ({ targetId, problem }),
      ),
    );
  }
  return results;
}
