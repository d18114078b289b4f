import { createFileRoute, redirect } from "@tanstack/react-router";

import { isStaff } from "../../lib/session";

/** The start page is another one for everybody. */
export const Route = createFileRoute("/_school/")({
  beforeLoad: ({ context }) => {
    throw redirect({ to: isStaff(context.person) ? "/today" : "/groups" });
  },
});
