import { createFileRoute } from "@tanstack/react-router";

import { Heading } from "../../ui/Heading";

export const Route = createFileRoute("/_school/me")({ component: Profile });

/** The profile: name, language, password, sessions, own data. */
function Profile() {
  return <Heading title="Profile">Profile</Heading>;
}
