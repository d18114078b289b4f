import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/classes/$classId")({ beforeLoad: only(isStaff), component: ClassPage });

/** A class: its teachers, students, courses, and the groups without a course. */
function ClassPage() {
  return <Heading title="ClassPage">ClassPage</Heading>;
}
