import { createFileRoute } from "@tanstack/react-router";

import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/help")({ component: Help });

/** Keys, and whom to ask. */
function Help() {
  return <Heading title="Help">Help</Heading>;
}
