import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useSendsEmail } from "../../api/useSendsEmail";
import { PasswordField } from "../../forms/PasswordField";
import type { Me } from "../../auth/session";
import { SettingsSection } from "../../components/SettingsSection";
import { Button } from "../../components/Button";
import { FormBody } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { TextField } from "../../forms/TextField";
import { Dialog } from "../../components/Dialog";

/** The sign-in address; a new one takes effect after its mailbox has confirmed it. */
export function EmailForm({ person, outcome }: { person: Me; outcome: "changed" | "expired" | undefined }) {
  const { t } = useTranslation();
  const sendsEmail = useSendsEmail();
  const [sent, setSent] = useState<string>();
  return (
    <SettingsSection title={t("me.email")} text={t(sendsEmail ? "me.emailText" : "me.emailTextNoMail")}>
      {outcome === "changed" ? <output className="text-good font-medium">{t("me.emailChanged")}</output> : null}
      {outcome === "expired" ? <output className="text-bad font-medium">{t("me.emailExpired")}</output> : null}
      <p className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-medium wrap-anywhere">{person.email ?? t("me.emailNone")}</span>
        {sendsEmail ? (
          <DialogTrigger>
            <Button>{t(person.email === null ? "me.emailAdd" : "me.emailChange")}</Button>
            <Dialog title={t("me.emailTitle")}>{(close) => <ChangeEmailForm close={close} onSent={setSent} />}</Dialog>
          </DialogTrigger>
        ) : null}
      </p>
      {sent === undefined ? null : <output>{t("me.emailSent", { email: sent })}</output>}
    </SettingsSection>
  );
}

function ChangeEmailForm({ close, onSent }: { close: () => void; onSent: (email: string) => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: { newEmail: "" },
    send: ({ newEmail }, fields) =>
      client.POST("/users/me/email", { body: { newEmail: newEmail.trim(), password: String(fields.get("password")) } }),
    onSent: (_, { newEmail }) => {
      onSent(newEmail.trim());
      close();
    },
    codes: { INVALID_PASSWORD: "password" },
  });
  return (
    <FormBody form={form} submitLabel={t("me.emailGo")} close={close}>
      <p>{t("me.emailHow")}</p>
      <TextField
        label={t("me.emailNew")}
        name="email"
        type="email"
        autoComplete="email"
        isRequired
        {...form.field("newEmail")}
      />
      <PasswordField label={t("me.passwordNow")} name="password" problem={form.problemAt("password")} />
    </FormBody>
  );
}
