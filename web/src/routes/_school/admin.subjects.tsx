import { createFileRoute } from "@tanstack/react-router";

import { isAdmin, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/admin/subjects")({ beforeLoad: only(isAdmin), component: Subjects });

/** The subjects of the school. */
function Subjects() {
  return <Heading title="Subjects">Subjects</Heading>;
}
