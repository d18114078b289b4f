import { createFileRoute, redirect } from "@tanstack/react-router";

import { isStaff } from "../../auth/session";

interface HomeSearch {
  /** Result of the link in an email that confirms an address. */
  emailChanged?: boolean;
  error?: string;
  /** The slug of the school whose own domain redirected here. */
  org?: string;
}

/** Redirects to the start page of the user's role. */
export const Route = createFileRoute("/_school/")({
  validateSearch: (search: Record<string, unknown>): HomeSearch => ({
    ...(search.emailChanged === true ? { emailChanged: true } : {}),
    ...(typeof search.error === "string" ? { error: search.error } : {}),
    ...(typeof search.org === "string" ? { org: search.org } : {}),
  }),
  beforeLoad: ({ context: { person }, search: { emailChanged, error, org } }) => {
    if (emailChanged) throw redirect({ to: "/me", search: { address: "changed" } });
    if (error !== undefined) throw redirect({ to: "/me", search: { address: "expired" } });
    if (org !== undefined && org !== person.organization?.slug) throw redirect({ to: "/schools", search: { org } });
    throw redirect({ to: isStaff(person) ? "/today" : "/groups" });
  },
});
