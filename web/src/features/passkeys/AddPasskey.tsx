import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Problem } from "../../api/client";
import { FormBody } from "../../forms/FormDialog";
import { PasswordField } from "../../forms/PasswordField";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { addPasskey } from "./passkeys";
import { supportsPasskeys } from "./webauthn";

/** Adds a passkey of this device. The password is asked for if the sign-in was some time ago. */
export function AddPasskey({ onDone, close }: { onDone: () => unknown; close?: () => void }) {
  const { t } = useTranslation();
  const { needsPassword, onFailed, passwordOf } = useFreshSession();
  const form = useForm({
    initial: { name: "" },
    send: ({ name }, fields) => addPasskey(name.trim(), passwordOf(fields)),
    onSent: onDone,
    onFailed,
    codes: { INVALID_PASSWORD: "password" },
  });
  if (!supportsPasskeys()) return <p>{t("passkey.unsupported")}</p>;
  return (
    <FormBody form={form} submitLabel={t("passkey.addGo")} {...(close ? { close } : {})}>
      <p>{t("passkey.addText")}</p>
      <TextField label={t("passkey.name")} maxLength={80} {...form.field("name")} />
      {needsPassword ? (
        <PasswordField label={t("me.passwordNow")} name="password" problem={form.problemAt("password")} />
      ) : null}
    </FormBody>
  );
}

/** Whether the service wants the password before it changes passkeys. */
export function useFreshSession() {
  const [needsPassword, setNeedsPassword] = useState(false);
  return {
    needsPassword,
    onFailed: (problem: unknown) => {
      if (problem instanceof Problem && problem.code === "SESSION_NOT_FRESH") setNeedsPassword(true);
    },
    passwordOf: (fields: FormData) => (needsPassword ? String(fields.get("password")) : null),
  };
}
