// A topic as the service tells it to who may change it.
import { queryOptions, type QueryClient } from "@tanstack/react-query";

import { client, data, type Schemas } from "../api/client";
import { isManaged } from "../features/classes/classes";
import { invalidate, queryKeys } from "../lib/queryKeys";
import { ifMatch, type Tagged, tagged } from "../lib/versions";
import { type Edits, ownOf, sharedOf, type Topic } from "./form";

export type KnownTopic = Schemas["KnownAssignment"];
export type Attachment = Schemas["AssignmentAttachment"];
export type Own = Schemas["GroupAssignment"];

export const topic = (topicId: string) =>
  queryOptions({ queryKey: queryKeys.assignments.one(topicId), queryFn: () => tagged(client.GET("/assignments/{id}", { params: { path: { id: topicId } } })) });

/** Whether the caller sees the inside of it. */
export const isMine = (found: KnownTopic): found is Extract<KnownTopic, { view: "FULL" }> => found.view === "FULL";

/** The courses in which the reader may add a topic: those of the classes he manages that are not archived. */
export const courses = queryOptions({
  queryKey: queryKeys.courses.managed(),
  queryFn: async () => {
    const [all, classes] = await Promise.all([data(client.GET("/courses", { params: { query: { status: "ACTIVE" } } })), data(client.GET("/classes", { params: { query: {} } }))]);
    const managed = new Set(classes.filter((one) => isManaged(one) && one.status !== "ARCHIVED").map((one) => one.id));
    return all.filter((course) => managed.has(course.classId));
  },
});

/** What saving these edits would change for all groups; the service is asked and writes nothing. */
export const preview = (topicId: string, edits: Edits) => {
  const body = sharedOf(edits);
  return queryOptions({
    queryKey: queryKeys.assignments.preview(topicId, body),
    queryFn: async () => {
      const answer = await data(client.PATCH("/assignments/{id}/bulk", { params: { path: { id: topicId }, query: { dryRun: "1" } }, body }));
      return { changes: "changes" in answer ? Object.keys(answer.changes) : [], groupIds: answer.affectedGroupIds };
    },
    enabled: Object.keys(body).length > 0,
    staleTime: 0,
    gcTime: 0,
  });
};

/** Saves what was changed: first what is the topic's own, then what goes to all groups. What is saved stays saved if the second is refused. */
export async function save(of: Tagged<Topic>, edits: Edits, recomputeLate: boolean): Promise<void> {
  const path = { id: of.id };
  const own = ownOf(edits);
  const shared = sharedOf(edits);
  const now = Object.keys(own).length > 0 ? await tagged(client.PATCH("/assignments/{id}", { params: { path }, body: own, ...ifMatch(of) })) : of;
  if (Object.keys(shared).length > 0) await data(client.PATCH("/assignments/{id}/bulk", { params: { path, query: recomputeLate ? { recomputeLate: "1" } : {} }, body: shared, ...ifMatch(now) }));
}

/** Has everything that shows a topic ask anew. */
export const refresh = (cache: QueryClient) => invalidate(cache, "assignments", "groups", "courses", "room", "board", "submissions");

/** How a group is called where its number matters. */
export const groupName = (group: Schemas["GroupLabel"]): string => {
  const name = group.displayName ?? group.name;
  return name.includes(String(group.groupNumber)) ? name : `${group.groupNumber} ${name}`;
};
