import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, redirect, useNavigate } from "@tanstack/react-router";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Alert } from "../door/Alert";
import { Frame } from "../door/Frame";
import { Leave } from "../door/Leave";
import { Secret } from "../door/Secret";
import { changePassword, me, safeNext } from "../lib/session";
import { ResetNotice } from "../features/account/ResetNotice";
import { Button } from "../ui/Button";

export const Route = createFileRoute("/change-password")({
  validateSearch: (search: Record<string, unknown>): { next?: string } => (typeof search.next === "string" ? { next: safeNext(search.next) } : {}),
  beforeLoad: async ({ context }) => {
    if (!(await context.cache.ensureQueryData(me))) throw redirect({ to: "/login" });
  },
  component: ChangePassword,
});

/** Whoever came in with a password that somebody else has seen gives himself one before anything else. */
function ChangePassword() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { next } = Route.useSearch();
  const person = useQuery(me);
  const changing = useMutation({
    mutationFn: (form: FormData) => changePassword(String(form.get("current")), String(form.get("password"))),
    onSuccess: () => {
      cache.clear();
      return navigate({ href: safeNext(next) });
    },
  });
  return (
    <Frame title={t("password.title")}>
      <p>{t("password.why")}</p>
      {person.data ? <ResetNotice reset={person.data.passwordReset} /> : null}
      <Form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          changing.mutate(new FormData(event.currentTarget));
        }}
      >
        {changing.isError ? <Alert problem={changing.error} /> : null}
        <Secret label={t("password.given")} name="current" />
        <Secret label={t("password.new")} name="password" isNew />
        <Button kind="main" type="submit" isPending={changing.isPending}>
          {t("password.go")}
        </Button>
      </Form>
      <Leave />
    </Frame>
  );
}
