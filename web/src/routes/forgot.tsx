import { createFileRoute } from "@tanstack/react-router";

import { Heading } from "../ui/Heading";

export const Route = createFileRoute("/forgot")({ component: Forgot });

/** Asking for a link that sets a new password. */
function Forgot() {
  return <Heading title="Forgot">Forgot</Heading>;
}
