import { createFileRoute } from "@tanstack/react-router";

import { isAdmin, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/admin/privacy")({ beforeLoad: only(isAdmin), component: Privacy });

/** What is kept of a person: export and deletion. */
function Privacy() {
  return <Heading title="Privacy">Privacy</Heading>;
}
