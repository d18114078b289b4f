// Queries and mutations of a topic, for users who can change it.
import { queryOptions, type QueryClient } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { isManaged } from "../classes/classes";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { ifMatch, type Versioned, withVersion } from "../../api/versions";
import { type TopicEdits, ownChanges, sharedChanges, type Topic } from "./topicForm";

export type KnownTopic = Schemas["KnownAssignment"];
export type TopicAttachment = Schemas["AssignmentAttachment"];
export type GroupWork = Schemas["GroupAssignment"];

export const topicQuery = (topicId: string) =>
  queryOptions({
    queryKey: queryKeys.assignments.one(topicId),
    queryFn: () => withVersion(client.GET("/assignments/{id}", { params: { path: { id: topicId } } })),
  });

/** Whether the API returned the topic in full. */
export const isFullTopic = (topic: KnownTopic): topic is Extract<KnownTopic, { view: "FULL" }> => topic.view === "FULL";

/** Courses in which the reader can add a topic: active courses of the classes they manage. */
export const managedCoursesQuery = queryOptions({
  queryKey: queryKeys.courses.managed(),
  queryFn: async () => {
    const [all, classes] = await Promise.all([
      unwrap(client.GET("/courses", { params: { query: { status: "ACTIVE" } } })),
      unwrap(client.GET("/classes", { params: { query: {} } })),
    ]);
    const managed = new Set(classes.filter((one) => isManaged(one) && one.status !== "ARCHIVED").map((one) => one.id));
    return all.filter((course) => managed.has(course.classId));
  },
});

/** Previews the effect of edits on all groups; writes nothing. */
export const editPreviewQuery = (topicId: string, edits: TopicEdits) => {
  const body = sharedChanges(edits);
  return queryOptions({
    queryKey: queryKeys.assignments.preview(topicId, body),
    queryFn: async () => {
      const answer = await unwrap(
        client.PATCH("/assignments/{id}/bulk", { params: { path: { id: topicId }, query: { dryRun: "1" } }, body }),
      );
      return { changes: "changes" in answer ? Object.keys(answer.changes) : [], groupIds: answer.affectedGroupIds };
    },
    enabled: Object.keys(body).length > 0,
    staleTime: 0,
    gcTime: 0,
  });
};

/** Saves edits: first those of the topic itself, then those of all groups. The first part stays saved if the second is rejected. */
export async function saveTopic(topic: Versioned<Topic>, edits: TopicEdits, recomputeLate: boolean): Promise<void> {
  const path = { id: topic.id };
  const own = ownChanges(edits);
  const shared = sharedChanges(edits);
  const now =
    Object.keys(own).length > 0
      ? await withVersion(client.PATCH("/assignments/{id}", { params: { path }, body: own, ...ifMatch(topic) }))
      : topic;
  if (Object.keys(shared).length > 0)
    await unwrap(
      client.PATCH("/assignments/{id}/bulk", {
        params: { path, query: recomputeLate ? { recomputeLate: "1" } : {} },
        body: shared,
        ...ifMatch(now),
      }),
    );
}

/** Refetches everything that shows a topic. */
export const refreshTopics = (cache: QueryClient) =>
  invalidate(cache, "assignments", "groups", "courses", "room", "board", "submissions");

export { numberedName as groupName } from "../lesson/groupNames";
