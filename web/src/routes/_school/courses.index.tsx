import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/courses/")({ beforeLoad: only(isStaff), component: Courses });

/** S3: courses as folders: class, subject, course, groups. */
function Courses() {
  return <Heading title="Courses">Courses</Heading>;
}
