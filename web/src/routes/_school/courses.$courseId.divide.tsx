import { createFileRoute } from "@tanstack/react-router";

import { isStaff, only } from "../../lib/session";
import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/courses/$courseId/divide")({ beforeLoad: only(isStaff), component: Divide });

/** S5: dividing the students of a class into groups. */
function Divide() {
  return <Heading title="Divide">Divide</Heading>;
}
