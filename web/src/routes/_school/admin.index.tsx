import { createFileRoute } from "@tanstack/react-router";

import { isAdmin, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/admin/")({ beforeLoad: only(isAdmin), component: Overview });

/** S15: how the school and its service stand. */
function Overview() {
  return <Heading title="Overview">Overview</Heading>;
}
