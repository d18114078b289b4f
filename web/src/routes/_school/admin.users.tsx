import { createFileRoute } from "@tanstack/react-router";

import { isAdmin, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/admin/users")({ beforeLoad: only(isAdmin), component: Users });

/** S14: the people of the school. */
function Users() {
  return <Heading title="Users">Users</Heading>;
}
