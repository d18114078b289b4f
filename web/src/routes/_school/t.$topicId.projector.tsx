import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/t/$topicId/projector")({ beforeLoad: only(isStaff), component: Projector });

/** S7: what the whole class may see: the topic and the time that is left, nothing of any group. */
function Projector() {
  return <Heading title="Projector">Projector</Heading>;
}
