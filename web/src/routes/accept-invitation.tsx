import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, useNavigate, useRouterState } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Form } from "../forms/Form";
import { client, unwrap } from "../api/client";
import { FormAlert } from "../auth/FormAlert";
import { AuthPage } from "../auth/AuthPage";
import { PasswordField } from "../forms/PasswordField";
import { fieldError } from "../i18n/useErrorText";
import { queryKeys } from "../api/queryKeys";
import { Button } from "../components/Button";

export const Route = createFileRoute("/accept-invitation")({ component: AcceptInvitation });

/** The page opened by the link of an invitation email. The token is in the fragment, so it reaches no server log. */
function AcceptInvitation() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const token = new URLSearchParams(useRouterState({ select: (state) => state.location.hash })).get("token") ?? "";
  const preview = useQuery({
    queryKey: queryKeys.invitations.preview(token),
    queryFn: () => unwrap(client.POST("/invitations/preview", { body: { token } })),
    // The redirect to the sign-in page drops the token from the URL.
    enabled: token !== "",
    retry: false,
    staleTime: Infinity,
  });
  const accepting = useMutation({
    mutationFn: (password: string | undefined) =>
      unwrap(client.POST("/invitations/accept", { body: { token, ...(password === undefined ? {} : { password }) } })),
    // All sessions of the account may have ended, including that of this browser. The preview stays: its token is used up.
    onSuccess: () => {
      cache.removeQueries({ type: "inactive" });
      return navigate({ to: "/login", search: { told: "joined" } });
    },
  });
  const invitation = preview.data;
  return (
    <AuthPage title={t("invitation.title")}>
      {preview.isLoading ? <p aria-busy="true" className="bg-faint h-11 animate-pulse rounded-lg" /> : null}
      {preview.isError || (token === "" && !accepting.isSuccess) ? <p role="alert">{t("invitation.spent")}</p> : null}
      {invitation ? (
        <Form
          isPending={accepting.isPending}
          onSubmit={(fields) => {
            const password = fields.get("password");
            accepting.mutate(typeof password === "string" ? password : undefined);
          }}
        >
          <p className="wrap-anywhere">
            {t("invitation.text", {
              organization: invitation.organizationName,
              host: invitation.host,
              role: t(`role.${invitation.role}`),
            })}
          </p>
          <p className="wrap-anywhere">{t("invitation.address", { email: invitation.email })}</p>
          {accepting.isError ? <FormAlert problem={accepting.error} /> : null}
          {invitation.needsPassword ? (
            <>
              <p className="text-soft">{t("invitation.password")}</p>
              <PasswordField
                label={t("password.new")}
                name="password"
                isNew
                problem={fieldError(accepting.error, "password")}
              />
            </>
          ) : null}
          <Button kind="main" type="submit" isPending={accepting.isPending}>
            {t("invitation.accept")}
          </Button>
          <p className="text-soft text-sm">{t("invitation.ignore")}</p>
        </Form>
      ) : null}
    </AuthPage>
  );
}
