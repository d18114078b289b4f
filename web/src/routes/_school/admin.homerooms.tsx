import { createFileRoute } from "@tanstack/react-router";

import { isAdmin, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/admin/homerooms")({ beforeLoad: only(isAdmin), component: Homerooms });

/** The homerooms of the school. */
function Homerooms() {
  return <Heading title="Homerooms">Homerooms</Heading>;
}
