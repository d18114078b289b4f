import { createFileRoute } from "@tanstack/react-router";

import { Heading } from "../ui/Heading";

export const Route = createFileRoute("/invitation/$invitationId")({ component: Invitation });

/** Accepting the invitation to a school. */
function Invitation() {
  return <Heading title="Invitation">Invitation</Heading>;
}
