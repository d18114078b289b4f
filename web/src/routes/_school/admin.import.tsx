import { createFileRoute } from "@tanstack/react-router";

import { isAdmin, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/admin/import")({ beforeLoad: only(isAdmin), component: Import });

/** S14: people out of a file. */
function Import() {
  return <Heading title="Import">Import</Heading>;
}
