import { createFileRoute } from "@tanstack/react-router";

import { isSuper, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/super/tenants")({ beforeLoad: only(isSuper), component: Tenants });

/** The schools of this installation. */
function Tenants() {
  return <Heading title="Tenants">Tenants</Heading>;
}
