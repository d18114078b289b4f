import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Form } from "../forms/Form";
import { client, unwrap } from "../api/client";
import { FormAlert } from "./FormAlert";
import { PasswordField } from "../forms/PasswordField";
import { deleteDrafts } from "../forms/drafts";
import { clearUserData, fullUserName, meQuery, openSession, type Me, type SecondFactorMethods } from "./session";
import { waitForAuthReads, loadFreshPage, abandonSession, resumeSession } from "./sessionEnd";
import { markSchoolRestored, getPageSchool } from "./pageSchool";
import { loadTexts } from "../i18n";
import { Button } from "../components/Button";
import { lazyPart } from "../components/lazyPart";
import { TextField } from "../forms/TextField";
import { Dialog } from "../components/Dialog";

const SecondStep = lazyPart(async () => {
  await loadTexts("secondFactor", "passkey");
  return (await import("./SecondStep")).SecondStep;
});

/** Signs in and enters the school of the page again. Returns the signed-in user, or the second factors that are asked for. */
async function reauthenticate(person: Me, typed: string, password: string): Promise<Me | SecondFactorMethods> {
  await waitForAuthReads();
  return (await openSession(typed, password)) ?? enterAgain(person);
}

/** Enters the school of the page again after a sign-in. Returns the signed-in user. */
async function enterAgain(person: Me): Promise<Me> {
  const found = await unwrap(client.GET("/users/me"));
  const school = getPageSchool()?.id;
  if (found.id !== person.id || school === undefined) return found;
  if (found.organization?.id !== school)
    await client.POST("/auth/organization/set-active", { body: { organizationId: school } });
  markSchoolRestored();
  return found.organization?.id === school ? found : unwrap(client.GET("/users/me"));
}

/** Shown over a page whose session has ended. The same user continues; a different user gets a fresh page. */
export function SignInAgainDialog({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [methods, setMethods] = useState<SecondFactorMethods>();
  const signingIn = useMutation({
    mutationFn: (typed: FormData | "entered") =>
      typed === "entered"
        ? enterAgain(person)
        : reauthenticate(person, String(typed.get("email")).trim(), String(typed.get("password"))),
    onSuccess: async (found) => {
      if (!("id" in found)) {
        setMethods(found);
        return;
      }
      setMethods(undefined);
      if (found.id !== person.id) {
        deleteDrafts();
        loadFreshPage();
        return;
      }
      cache.setQueryData(meQuery.queryKey, found);
      resumeSession();
      void cache.invalidateQueries();
      if (found.mustChangePassword)
        await navigate({ to: "/change-password", search: { next: window.location.pathname } });
    },
  });
  const leave = () => {
    deleteDrafts();
    abandonSession();
    clearUserData(cache);
    loadFreshPage();
  };
  if (methods)
    return (
      <Dialog title={t("sessionEnded.title")} role="alertdialog" isOpaque isOpen onOpenChange={() => undefined}>
        {() => (
          <Suspense>
            <SecondStep
              methods={methods}
              onDone={() => signingIn.mutate("entered")}
              onCancel={() => setMethods(undefined)}
            />
          </Suspense>
        )}
      </Dialog>
    );
  return (
    <Dialog title={t("sessionEnded.title")} role="alertdialog" isOpaque isOpen onOpenChange={() => undefined}>
      {() => (
        <Form isPending={signingIn.isPending} onSubmit={signingIn.mutate}>
          <p>{t("sessionEnded.text")}</p>
          {signingIn.isError ? <FormAlert problem={signingIn.error} /> : null}
          <TextField
            label={t("signIn.name")}
            name="email"
            autoComplete="username"
            isSignInName
            defaultValue={person.email ?? fullUserName(person) ?? ""}
            isRequired
          />
          <PasswordField label={t("signIn.password")} name="password" />
          <p className="text-soft text-sm">{t("sessionEnded.other")}</p>
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={leave}>{t("sessionEnded.leave")}</Button>
            <Button kind="main" type="submit" isPending={signingIn.isPending || signingIn.isSuccess}>
              {signingIn.isPending ? t("signIn.going") : t("signIn.go")}
            </Button>
          </p>
        </Form>
      )}
    </Dialog>
  );
}
