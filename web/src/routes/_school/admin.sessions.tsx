import { createFileRoute } from "@tanstack/react-router";

import { isAdmin, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/admin/sessions")({ beforeLoad: only(isAdmin), component: Sessions });

/** Who is signed in, and ending it. */
function Sessions() {
  return <Heading title="Sessions">Sessions</Heading>;
}
