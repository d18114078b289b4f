import { useMutation, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Link, redirect, useNavigate } from "@tanstack/react-router";
import { Suspense, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Form } from "../forms/Form";
import { FormAlert } from "../auth/FormAlert";
import { AuthPage } from "../auth/AuthPage";
import { PasswordField } from "../forms/PasswordField";
import { completeSignIn, meQuery, safeRedirect, signIn } from "../auth/session";
import { loadTexts } from "../i18n";
import { Button } from "../components/Button";
import { lazyPart } from "../components/lazyPart";
import { TextField } from "../forms/TextField";

interface LoginSearch {
  next?: string;
  /** Short name of the school, for user names without it and for its sign-on providers. */
  org?: string;
  /** What the user did before; shown as a notice. */
  told?: "password" | "joined";
  /** Whether a sign-in of this browser waits for a code of the second factor. */
  step?: "code";
  /** The second factors that a sign-on left to be asked for, separated by commas. */
  methods?: string;
  /** Why a sign-on provider did not sign the user in. */
  error?: string;
}

export const Route = createFileRoute("/login")({
  validateSearch: (search: Record<string, unknown>): LoginSearch => ({
    ...(typeof search.next === "string" ? { next: safeRedirect(search.next) } : {}),
    ...(typeof search.org === "string" ? { org: search.org } : {}),
    ...(search.step === "code" ? { step: search.step } : {}),
    ...(typeof search.methods === "string" ? { methods: search.methods } : {}),
    ...(search.told === "password" || search.told === "joined" ? { told: search.told } : {}),
    ...(typeof search.error === "string" ? { error: search.error } : {}),
  }),
  beforeLoad: async ({ context, search }) => {
    if (await context.cache.ensureQueryData(meQuery)) throw redirect({ href: safeRedirect(search.next) });
  },
  component: SignIn,
});

// Only the demo has accounts to sign in with: elsewhere neither the buttons nor their request are loaded.
const loadDemo = document.querySelector<HTMLMetaElement>('meta[name="demo"]')?.content;
const DemoSignIn = lazyPart(async () => (await import("../auth/DemoSignIn")).DemoSignIn);

const SecondStep = lazyPart(async () => {
  await loadTexts("secondFactor", "passkey");
  return (await import("../auth/SecondStep")).SecondStep;
});

const PasskeySignIn = lazyPart(async () => {
  const [part] = await Promise.all([import("../features/passkeys/PasskeySignIn"), loadTexts("passkey")]);
  return part.PasskeySignIn;
});

// Only schools with a sign-on provider have such an address.
const SignOnOptions = lazyPart(async () => {
  const [part] = await Promise.all([import("../auth/SignOnOptions"), loadTexts("signOn")]);
  return part.SignOnOptions;
});

/** The school of the address, or of the page that the user has asked for. */
const schoolOf = (org?: string, next?: string) =>
  org ?? new URLSearchParams(next?.split("?")[1]).get("org") ?? undefined;

/** Sign-in page. */
function SignIn() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { next, told, org, step, methods, error } = Route.useSearch();
  const slug = schoolOf(org, next);
  const form = useRef<HTMLFormElement>(null);
  // The page is opened to type, so the field gets the focus.
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const [waitsFor, setWaitsFor] = useState(step === "code" ? (methods ?? "totp").split(",") : undefined);
  const openNext = () => void navigate({ href: safeRedirect(next) });
  const enter = () => {
    completeSignIn(cache);
    openNext();
  };
  const signingIn = useMutation({
    mutationFn: (typed: FormData) =>
      signIn(cache, String(typed.get("email")).trim(), String(typed.get("password")), slug),
    onSuccess: (missing) => (missing ? setWaitsFor([...missing]) : openNext()),
  });
  const notice =
    told === "password"
      ? t("reset.done")
      : told === "joined"
        ? t("invitation.joined")
        : next?.includes("emailChanged=true")
          ? t("signIn.emailChanged")
          : undefined;
  if (waitsFor)
    return (
      <AuthPage title={t("signIn.title")}>
        <Suspense>
          <SecondStep
            methods={waitsFor}
            onDone={enter}
            onCancel={() => {
              signingIn.reset();
              setWaitsFor(undefined);
            }}
          />
        </Suspense>
      </AuthPage>
    );
  return (
    <AuthPage
      title={t("signIn.title")}
      below={
        loadDemo === undefined ? null : (
          <Suspense>
            <DemoSignIn source={loadDemo} onEnter={openNext} />
          </Suspense>
        )
      }
    >
      {slug === undefined && error === undefined ? null : (
        <Suspense>
          <SignOnOptions
            next={safeRedirect(next)}
            {...(slug === undefined ? {} : { slug })}
            {...(error === undefined ? {} : { error })}
          />
        </Suspense>
      )}
      <Form ref={form} isPending={signingIn.isPending} onSubmit={signingIn.mutate}>
        {notice === undefined || signingIn.isError ? null : <output className="text-good font-medium">{notice}</output>}
        {signingIn.isError ? <FormAlert problem={signingIn.error} /> : null}
        <TextField label={t("signIn.name")} name="email" autoComplete="username webauthn" isSignInName isRequired />
        <PasswordField label={t("signIn.password")} name="password" />
        <Button kind="main" type="submit" isPending={signingIn.isPending}>
          {signingIn.isPending ? t("signIn.going") : t("signIn.go")}
        </Button>
        <Link to="/forgot" className="inline-flex min-h-11 items-center self-start">
          {t("signIn.forgot")}
        </Link>
      </Form>
      <Suspense>
        <PasskeySignIn onDone={enter} />
      </Suspense>
    </AuthPage>
  );
}
