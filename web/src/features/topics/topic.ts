// A topic as the service tells it to who may change it.
import { queryOptions, type QueryClient } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { isManaged } from "../classes/classes";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { ifMatch, type Versioned, withVersion } from "../../api/versions";
import { type TopicEdits, ownChanges, sharedChanges, type Topic } from "./topicForm";

export type KnownTopic = Schemas["KnownAssignment"];
export type Attachment = Schemas["AssignmentAttachment"];
export type GroupWork = Schemas["GroupAssignment"];

export const topicQuery = (topicId: string) =>
  queryOptions({ queryKey: queryKeys.assignments.one(topicId), queryFn: () => withVersion(client.GET("/assignments/{id}", { params: { path: { id: topicId } } })) });

/** Whether the caller sees the inside of it. */
export const isFullTopic = (topic: KnownTopic): topic is Extract<KnownTopic, { view: "FULL" }> => topic.view === "FULL";

/** The courses in which the reader may add a topic: those of the classes he manages that are not archived. */
export const managedCoursesQuery = queryOptions({
  queryKey: queryKeys.courses.managed(),
  queryFn: async () => {
    const [all, classes] = await Promise.all([unwrap(client.GET("/courses", { params: { query: { status: "ACTIVE" } } })), unwrap(client.GET("/classes", { params: { query: {} } }))]);
    const managed = new Set(classes.filter((one) => isManaged(one) && one.status !== "ARCHIVED").map((one) => one.id));
    return all.filter((course) => managed.has(course.classId));
  },
});

/** What saving these edits would change for all groups; the service is asked and writes nothing. */
export const editPreviewQuery = (topicId: string, edits: TopicEdits) => {
  const body = sharedChanges(edits);
  return queryOptions({
    queryKey: queryKeys.assignments.preview(topicId, body),
    queryFn: async () => {
      const answer = await unwrap(client.PATCH("/assignments/{id}/bulk", { params: { path: { id: topicId }, query: { dryRun: "1" } }, body }));
      return { changes: "changes" in answer ? Object.keys(answer.changes) : [], groupIds: answer.affectedGroupIds };
    },
    enabled: Object.keys(body).length > 0,
    staleTime: 0,
    gcTime: 0,
  });
};

/** Saves what was changed: first what is the topic's own, then what goes to all groups. What is saved stays saved if the second is refused. */
export async function saveTopic(topic: Versioned<Topic>, edits: TopicEdits, recomputeLate: boolean): Promise<void> {
  const path = { id: topic.id };
  const own = ownChanges(edits);
  const shared = sharedChanges(edits);
  const now = Object.keys(own).length > 0 ? await withVersion(client.PATCH("/assignments/{id}", { params: { path }, body: own, ...ifMatch(topic) })) : topic;
  if (Object.keys(shared).length > 0) await unwrap(client.PATCH("/assignments/{id}/bulk", { params: { path, query: recomputeLate ? { recomputeLate: "1" } : {} }, body: shared, ...ifMatch(now) }));
}

/** Has everything that shows a topic ask anew. */
export const refreshTopics = (cache: QueryClient) => invalidate(cache, "assignments", "groups", "courses", "room", "board", "submissions");

/** How a group is called where its number matters. */
export const groupName = (group: Schemas["GroupLabel"]): string => {
  const name = group.displayName ?? group.name;
  return name.includes(String(group.groupNumber)) ? name : `${group.groupNumber} ${name}`;
};
