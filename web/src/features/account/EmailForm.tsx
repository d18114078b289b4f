import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { DialogTrigger, Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, Problem } from "../../api/client";
import { PasswordField } from "../../forms/PasswordField";
import { fieldError, useErrorText } from "../../i18n/useErrorText";
import type { Me } from "../../auth/session";
import { SettingsSection } from "../organization/SettingsSection";
import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { Dialog } from "../../components/Dialog";

/** The sign-in address; a new one takes effect after its mailbox has confirmed it. */
export function EmailForm({ person, outcome }: { person: Me; outcome: "changed" | "expired" | undefined }) {
  const { t } = useTranslation();
  const [sent, setSent] = useState<string>();
  return (
    <SettingsSection title={t("me.email")} text={t("me.emailText")}>
      {outcome === "changed" ? <output className="text-good font-medium">{t("me.emailChanged")}</output> : null}
      {outcome === "expired" ? <output className="text-bad font-medium">{t("me.emailExpired")}</output> : null}
      <p className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-medium wrap-anywhere">{person.email}</span>
        <DialogTrigger>
          <Button>{t("me.emailChange")}</Button>
          <Dialog title={t("me.emailTitle")}>{(close) => <ChangeEmailForm close={close} onSent={setSent} />}</Dialog>
        </DialogTrigger>
      </p>
      {sent === undefined ? null : <output>{t("me.emailSent", { email: sent })}</output>}
    </SettingsSection>
  );
}

function ChangeEmailForm({ close, onSent }: { close: () => void; onSent: (email: string) => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const asking = useMutation({
    mutationFn: (wanted: { newEmail: string; password: string }) => client.POST("/users/me/email", { body: wanted }),
    onSuccess: (_, { newEmail }) => {
      onSent(newEmail);
      close();
    },
  });
  const emailProblem = fieldError(asking.error, "newEmail");
  const isWrong = asking.error instanceof Problem && asking.error.code === "INVALID_PASSWORD";
  const passwordProblem = isWrong ? errorText(asking.error) : fieldError(asking.error, "password");
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        asking.mutate({ newEmail: String(form.get("email")).trim(), password: String(form.get("password")) });
      }}
    >
      <p>{t("me.emailHow")}</p>
      {asking.isError && !emailProblem && !passwordProblem ? (
        <p role="alert" className="text-bad">
          {errorText(asking.error)}
        </p>
      ) : null}
      <TextField
        label={t("me.emailNew")}
        name="email"
        type="email"
        autoComplete="email"
        isRequired
        {...(emailProblem ? { problem: emailProblem } : {})}
      />
      <PasswordField label={t("me.passwordNow")} name="password" problem={passwordProblem} />
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isPending={asking.isPending}>
          {t("me.emailGo")}
        </Button>
      </p>
    </Form>
  );
}
