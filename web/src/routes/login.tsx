import { useMutation, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Link, redirect, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Alert } from "../door/Alert";
import { Frame } from "../door/Frame";
import { Secret } from "../door/Secret";
import { me, safeNext, signIn } from "../lib/session";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";

interface Asked {
  next?: string;
  /** What was done before, and is said here. */
  told?: "password" | "joined";
}

export const Route = createFileRoute("/login")({
  validateSearch: (search: Record<string, unknown>): Asked => ({
    ...(typeof search.next === "string" ? { next: safeNext(search.next) } : {}),
    ...(search.told === "password" || search.told === "joined" ? { told: search.told } : {}),
  }),
  beforeLoad: async ({ context, search }) => {
    if (await context.cache.ensureQueryData(me)) throw redirect({ href: safeNext(search.next) });
  },
  component: SignIn,
});

// Only the demo knows people to let in: elsewhere neither the buttons nor a question for them are loaded.
const demo = document.querySelector<HTMLMetaElement>('meta[name="demo"]')?.content;
const DemoPeople = lazy(async () => ({ default: (await import("../door/DemoPeople")).DemoPeople }));

/** S1: sign in. */
function SignIn() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { next, told } = Route.useSearch();
  const form = useRef<HTMLFormElement>(null);
  // Whoever comes here comes to type.
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const enter = () => void navigate({ href: safeNext(next) });
  const signing = useMutation({
    mutationFn: (typed: FormData) => signIn(cache, String(typed.get("email")).trim(), String(typed.get("password"))),
    onSuccess: enter,
  });
  const good = told === "password" ? t("reset.done") : told === "joined" ? t("invitation.joined") : next?.includes("emailChanged=true") ? t("signIn.emailChanged") : undefined;
  return (
    <Frame
      title={t("signIn.title")}
      below={
        demo === undefined ? null : (
          <Suspense>
            <DemoPeople from={demo} onEnter={enter} />
          </Suspense>
        )
      }
    >
      <Form
        ref={form}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          signing.mutate(new FormData(event.currentTarget));
        }}
      >
        {good === undefined || signing.isError ? null : <output className="text-good font-medium">{good}</output>}
        {signing.isError ? <Alert problem={signing.error} /> : null}
        <Field label={t("signIn.email")} name="email" type="email" autoComplete="username" isRequired />
        <Secret label={t("signIn.password")} name="password" />
        <Button kind="main" type="submit" isPending={signing.isPending}>
          {signing.isPending ? t("signIn.going") : t("signIn.go")}
        </Button>
        <Link to="/forgot" className="inline-flex min-h-11 items-center self-start">
          {t("signIn.forgot")}
        </Link>
      </Form>
    </Frame>
  );
}
