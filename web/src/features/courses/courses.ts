// Queries about courses and their contents.
import { queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type Course = Schemas["Course"];
export type CourseDetail = Schemas["CourseDetail"];
export type Subject = Schemas["Subject"];

/** All courses of the school. */
export const coursesQuery = queryOptions({
  queryKey: queryKeys.courses.list(),
  queryFn: () => unwrap(client.GET("/courses", { params: { query: {} } })),
});

/** One course with short lists of its groups and topics. */
export const courseQuery = (id: string) =>
  queryOptions({
    queryKey: queryKeys.courses.one(id),
    queryFn: () => unwrap(client.GET("/courses/{id}", { params: { path: { id } } })),
  });

/** The offered subjects. */
export const activeSubjectsQuery = queryOptions({
  queryKey: queryKeys.subjects.active(),
  queryFn: async () =>
    (await unwrap(client.GET("/subjects", { params: { query: {} } }))).filter((subject) => subject.isActive),
});

/** The topics of a course in full; teachers of other classes get none. */
export const courseTopicsQuery = (courseId: string) =>
  queryOptions({
    queryKey: queryKeys.assignments.ofCourse(courseId),
    queryFn: async () =>
      (await unwrap(client.GET("/assignments", { params: { query: { courseId } } }))).filter(
        (topic) => topic.view === "FULL",
      ),
  });

/** The groups of a course in full; teachers of other classes get none. */
export const courseGroupsQuery = (courseId: string) =>
  queryOptions({
    queryKey: queryKeys.groups.ofCourse(courseId),
    queryFn: async () =>
      (await unwrap(client.GET("/groups", { params: { query: { courseId } } }))).filter(
        (group) => group.view === "FULL",
      ),
  });

/** Groups of the reader's classes that are in no course. */
export const unassignedGroupsQuery = queryOptions({
  queryKey: queryKeys.groups.loose(),
  queryFn: async () =>
    (await unwrap(client.GET("/groups", { params: { query: { courseId: "none" } } }))).filter(
      (group) => group.view === "FULL",
    ),
});

/** Topics of the reader's classes that are in no course. */
export const unassignedTopicsQuery = queryOptions({
  queryKey: queryKeys.assignments.loose(),
  queryFn: async () =>
    (await unwrap(client.GET("/assignments", { params: { query: { courseId: "none" } } }))).filter(
      (topic) => topic.view === "FULL",
    ),
});
