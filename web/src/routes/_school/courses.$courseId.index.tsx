import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/courses/$courseId/")({ beforeLoad: only(isStaff), component: Course });

/** S4: a course with its topics, groups, students and files. */
function Course() {
  return <Heading title="Course">Course</Heading>;
}
