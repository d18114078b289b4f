import { useMutation, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Link, useLocation, useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client, Problem } from "../api/client";
import { AuthPage } from "../auth/AuthPage";
import { FormAlert } from "../auth/FormAlert";
import { clearPageSchool } from "../auth/pageSchool";
import { clearCache } from "../auth/session";
import { waitForAuthReads } from "../auth/sessionEnd";
import { Button } from "../components/Button";

export const Route = createFileRoute("/slip")({ component: Slip });

/** Signs in with the code of a printed slip, once. Opening the page alone does not use it up. */
function Slip() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  // Browsers do not send the fragment to servers.
  const fragment = useLocation({ select: (location) => location.hash });
  const token = new URLSearchParams(fragment).get("token") ?? "";
  const signingIn = useMutation({
    mutationFn: async () => {
      await waitForAuthReads();
      await client.POST("/auth/sign-in/slip", { body: { token } });
      clearPageSchool();
      clearCache(cache);
    },
    onSuccess: () => navigate({ to: "/change-password", replace: true }),
  });
  const isSpent = token === "" || (signingIn.error instanceof Problem && signingIn.error.code === "INVALID_TOKEN");
  return (
    <AuthPage title={t("slip.title")}>
      {isSpent ? (
        <>
          <p role="alert">{t("slip.spent")}</p>
          <Link to="/login" className="inline-flex min-h-11 items-center self-start">
            {t("slip.type")}
          </Link>
        </>
      ) : (
        <>
          {signingIn.isError ? <FormAlert problem={signingIn.error} /> : null}
          <p>{t("slip.text")}</p>
          <Button kind="main" isPending={signingIn.isPending} onPress={() => signingIn.mutate()}>
            {t("slip.go")}
          </Button>
        </>
      )}
    </AuthPage>
  );
}
