import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/submissions")({ beforeLoad: only(isStaff), component: Submissions });

/** S9: what was handed in, over all topics. */
function Submissions() {
  return <Heading title="Submissions">Submissions</Heading>;
}
