import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, redirect, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Form } from "../forms/Form";
import { Problem } from "../api/client";
import { FormAlert } from "../auth/FormAlert";
import { AuthPage } from "../auth/AuthPage";
import { SignOutButton } from "../auth/SignOutButton";
import { PasswordField } from "../forms/PasswordField";
import { changePassword, isAddressedFormally, meQuery, replacePassword, safeRedirect } from "../auth/session";
import { setFormalAddress } from "../i18n";
import { ResetNotice } from "../features/account/ResetNotice";
import { Button } from "../components/Button";

export const Route = createFileRoute("/change-password")({
  validateSearch: (search: Record<string, unknown>): { next?: string } =>
    typeof search.next === "string" ? { next: safeRedirect(search.next) } : {},
  beforeLoad: async ({ context }) => {
    const person = await context.cache.ensureQueryData(meQuery);
    if (!person) throw redirect({ to: "/login" });
    await setFormalAddress(isAddressedFormally(person));
  },
  component: ChangePassword,
});

const isNotFresh = (problem: unknown): boolean => problem instanceof Problem && problem.code === "SESSION_NOT_FRESH";

/** Users who signed in with a password that was set by another user have to change it first. */
function ChangePassword() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { next } = Route.useSearch();
  const person = useQuery(meQuery);
  // The provisional password was typed at sign-in; it is asked for again only if that was a while ago.
  const [isOldNeeded, setOldNeeded] = useState(false);
  const changing = useMutation({
    mutationFn: async (form: FormData) => {
      const password = String(form.get("password"));
      if (isOldNeeded) return changePassword(String(form.get("current")), password);
      return replacePassword(password);
    },
    onError: (problem) => setOldNeeded(isOldNeeded || isNotFresh(problem)),
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
        {isNotFresh(changing.error) ? <p role="alert">{t("password.stale")}</p> : null}
        {changing.isError && !isNotFresh(changing.error) ? <FormAlert problem={changing.error} /> : null}
        {isOldNeeded ? <PasswordField label={t("password.given")} name="current" /> : null}
        <PasswordField label={t("password.new")} name="password" isNew />
        <Button kind="main" type="submit" isPending={changing.isPending}>
          {t("password.go")}
        </Button>
      </Form>
      <SignOutButton />
    </AuthPage>
  );
}
