import { useMutation, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Link, useLocation, useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Form } from "../forms/Form";
import { client, Problem } from "../api/client";
import { FormAlert } from "../auth/FormAlert";
import { AuthPage } from "../auth/AuthPage";
import { PasswordField } from "../forms/PasswordField";
import { Button } from "../components/Button";

export const Route = createFileRoute("/reset-password")({
  validateSearch: (search: Record<string, unknown>): { token?: string } =>
    typeof search.token === "string" ? { token: search.token } : {},
  component: ResetPassword,
});

/** Sets a password by the link of an email, after a reset or for a new account. */
function ResetPassword() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  // Emails carry the token in the fragment, which browsers do not send to servers. The query is the wire format of
  // better-auth.
  const { token: asked } = Route.useSearch();
  const fragment = useLocation({ select: (location) => location.hash });
  const token = new URLSearchParams(fragment).get("token") ?? asked;
  const setting = useMutation({
    mutationFn: (newPassword: string) => client.POST("/auth/reset-password", { body: { newPassword, token } }),
    // All sessions have ended, including that of this browser.
    onSuccess: () => {
      cache.clear();
      return navigate({ to: "/login", search: { told: "password" } });
    },
  });
  const isSpent = token === undefined || (setting.error instanceof Problem && setting.error.code === "INVALID_TOKEN");
  return (
    <AuthPage title={t("reset.title")}>
      {isSpent ? (
        <>
          <p role="alert">{t("reset.spent")}</p>
          <Link to="/forgot" className="inline-flex min-h-11 items-center self-start">
            {t("reset.again")}
          </Link>
        </>
      ) : (
        <Form isPending={setting.isPending} onSubmit={(fields) => setting.mutate(String(fields.get("password")))}>
          {setting.isError ? <FormAlert problem={setting.error} /> : null}
          <PasswordField label={t("password.new")} name="password" isNew />
          <Button kind="main" type="submit" isPending={setting.isPending}>
            {t("reset.go")}
          </Button>
        </Form>
      )}
    </AuthPage>
  );
}
