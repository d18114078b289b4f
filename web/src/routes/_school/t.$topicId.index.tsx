import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/t/$topicId/")({ beforeLoad: only(isStaff), component: EditTopic });

/** S6: a topic: its texts, files, groups and deadline. */
function EditTopic() {
  return <Heading title="EditTopic">EditTopic</Heading>;
}
