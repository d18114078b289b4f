import { useMutation, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, redirect, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { me, safeNext, signIn } from "../lib/session";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { Heading } from "../ui/Heading";
import { Sheet } from "../ui/Sheet";

export const Route = createFileRoute("/login")({
  validateSearch: (search: Record<string, unknown>): { next?: string } =>
    typeof search.next === "string" ? { next: safeNext(search.next) } : {},
  beforeLoad: async ({ context, search }) => {
    if (await context.cache.ensureQueryData(me)) throw redirect({ href: safeNext(search.next) });
  },
  component: SignIn,
});

/** S1: sign in. */
function SignIn() {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { next } = Route.useSearch();
  const alert = useRef<HTMLParagraphElement>(null);
  const [shown, setShown] = useState(false);
  const signing = useMutation({
    mutationFn: (form: FormData) => signIn(cache, String(form.get("email")), String(form.get("password"))),
    onSuccess: () => navigate({ href: safeNext(next) }),
    onError: () => requestAnimationFrame(() => alert.current?.focus()),
  });
  const code = signing.error instanceof Problem ? signing.error.code : "UNKNOWN";
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 p-4">
      <Heading title={t("signIn.title")}>{t("signIn.title")}</Heading>
      <Sheet>
        <Form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            signing.mutate(new FormData(event.currentTarget));
          }}
        >
          {signing.isError ? (
            <p ref={alert} role="alert" tabIndex={-1} className="text-bad font-medium">
              {i18n.exists(`problem.${code}`) ? t(`problem.${code}`) : t("problem.UNKNOWN")}
            </p>
          ) : null}
          <Field label={t("signIn.email")} name="email" type="email" autoComplete="username" isRequired />
          <Field
            label={t("signIn.password")}
            name="password"
            type={shown ? "text" : "password"}
            autoComplete="current-password"
            isRequired
            end={
              <Button aria-pressed={shown} onPress={() => setShown(!shown)}>
                {shown ? t("signIn.hide") : t("signIn.show")}
              </Button>
            }
          />
          <Button kind="main" type="submit" isPending={signing.isPending}>
            {signing.isPending ? t("signIn.going") : t("signIn.go")}
          </Button>
          <p className="text-soft text-sm">{t("signIn.forgot")}</p>
        </Form>
      </Sheet>
    </main>
  );
}
