import { createFileRoute, redirect } from "@tanstack/react-router";

import { isStaff } from "../../auth/session";

interface HomeSearch {
  /** What the link of a letter that confirms an address came to. */
  emailChanged?: boolean;
  error?: string;
  /** The short name of the school whose own address led here. */
  org?: string;
}

/** The start page is another one for everybody. */
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
