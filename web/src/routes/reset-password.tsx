import { createFileRoute } from "@tanstack/react-router";

import { Heading } from "../ui/Heading";

export const Route = createFileRoute("/reset-password")({ component: ResetPassword });

/** Setting a new password with the link of a mail. */
function ResetPassword() {
  return <Heading title="ResetPassword">ResetPassword</Heading>;
}
