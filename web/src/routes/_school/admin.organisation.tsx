import { createFileRoute } from "@tanstack/react-router";

import { isAdmin, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/admin/organisation")({ beforeLoad: only(isAdmin), component: Organisation });

/** S15: name, zone, language and rules of the school. */
function Organisation() {
  return <Heading title="Organisation">Organisation</Heading>;
}
