import { createFileRoute } from "@tanstack/react-router";

import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/messages")({ component: Messages });

/** Direct messages between people of a school. */
function Messages() {
  return <Heading title="Messages">Messages</Heading>;
}
