import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/t/$topicId/work/$groupId")({ beforeLoad: only(isStaff), component: Work });

/** S8: looking at the work of one group, and grading it. */
function Work() {
  return <Heading title="Work">Work</Heading>;
}
