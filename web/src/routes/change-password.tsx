import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, redirect, useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Form } from "../forms/Form";
import { FormAlert } from "../auth/FormAlert";
import { AuthPage } from "../auth/AuthPage";
import { SignOutButton } from "../auth/SignOutButton";
import { PasswordField } from "../forms/PasswordField";
import { changePassword, meQuery, safeRedirect } from "../auth/session";
import { ResetNotice } from "../features/account/ResetNotice";
import { Button } from "../components/Button";

export const Route = createFileRoute("/change-password")({
  validateSearch: (search: Record<string, unknown>): { next?: string } =>
    typeof search.next === "string" ? { next: safeRedirect(search.next) } : {},
  beforeLoad: async ({ context }) => {
    if (!(await context.cache.ensureQueryData(meQuery))) throw redirect({ to: "/login" });
  },
  component: ChangePassword,
});

/** Users who signed in with a password that was set by another user have to change it first. */
function ChangePassword() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { next } = Route.useSearch();
  const person = useQuery(meQuery);
  const changing = useMutation({
    mutationFn: (form: FormData) => changePassword(String(form.get("current")), String(form.get("password"))),
    onSuccess: () => {
      cache.clear();
      return navigate({ href: safeRedirect(next) });
    },
  });
  return (
    <AuthPage title={t("password.title")}>
      <p>{t("password.why")}</p>
      {person.data ? <ResetNotice reset={person.data.passwordReset} /> : null}
      <Form isPending={changing.isPending} onSubmit={changing.mutate}>
        {changing.isError ? <FormAlert problem={changing.error} /> : null}
        <PasswordField label={t("password.given")} name="current" />
        <PasswordField label={t("password.new")} name="password" isNew />
        <Button kind="main" type="submit" isPending={changing.isPending}>
          {t("password.go")}
        </Button>
      </Form>
      <SignOutButton />
    </AuthPage>
  );
}
