import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/t/new")({ beforeLoad: only(isStaff), component: NewTopic });

/** S6: a new topic. */
function NewTopic() {
  return <Heading title="NewTopic">NewTopic</Heading>;
}
