import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/activity")({ beforeLoad: only(isStaff), component: Activity });

/** S16: the activity log. */
function Activity() {
  return <Heading title="Activity">Activity</Heading>;
}
