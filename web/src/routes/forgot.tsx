import { useMutation, useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Form } from "../forms/Form";
import { client } from "../api/client";
import { sendsEmailQuery } from "../api/useSendsEmail";
import { FormAlert } from "../auth/FormAlert";
import { AuthPage } from "../auth/AuthPage";
import { Button } from "../components/Button";
import { TextField } from "../forms/TextField";

export const Route = createFileRoute("/forgot")({ component: Forgot });

/** Requests a password reset link. The response is the same for every address. */
function Forgot() {
  const { t } = useTranslation();
  // Without a response, the page shows its form.
  const { data: sendsEmail = true, isPending } = useQuery(sendsEmailQuery);
  const asking = useMutation({
    mutationFn: (email: string) =>
      client.POST("/auth/request-password-reset", { body: { email, redirectTo: "/reset-password" } }),
  });
  return (
    <AuthPage title={t("forgot.title")}>
      {isPending ? null : !sendsEmail ? (
        <p>{t("forgot.none")}</p>
      ) : asking.isSuccess ? (
        <>
          <output>{t("forgot.sent", { email: asking.variables })}</output>
          <p className="text-soft">{t("forgot.school")}</p>
        </>
      ) : (
        <Form isPending={asking.isPending} onSubmit={(fields) => asking.mutate(String(fields.get("email")).trim())}>
          {asking.isError ? <FormAlert problem={asking.error} /> : null}
          <p>{t("forgot.text")}</p>
          <p className="text-soft">{t("forgot.noEmail")}</p>
          <TextField label={t("signIn.email")} name="email" type="email" autoComplete="username" isRequired />
          <Button kind="main" type="submit" isPending={asking.isPending}>
            {t("forgot.go")}
          </Button>
        </Form>
      )}
      <Link to="/login" className="inline-flex min-h-11 items-center self-start">
        {t("forgot.back")}
      </Link>
    </AuthPage>
  );
}
