import { createFileRoute, notFound } from "@tanstack/react-router";

import { isAdmin, requireRole } from "../../auth/session";
import { SignOnInstructions } from "../../features/organization/SignOnInstructions";
import { isPreset } from "../../features/organization/signOnPresets";
import { loadTexts } from "../../i18n";

export const Route = createFileRoute("/_school/admin/sign-on/$preset")({
  beforeLoad: requireRole(isAdmin),
  loader: async ({ params }) => {
    if (!isPreset(params.preset)) throw notFound();
    await loadTexts("signOn", "signOnHelp");
    return { preset: params.preset };
  },
  component: Instructions,
});

/** Instructions to set up sign-on with a product. */
function Instructions() {
  return <SignOnInstructions preset={Route.useLoaderData().preset} />;
}
