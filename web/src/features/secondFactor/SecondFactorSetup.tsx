import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { OneTimeSecret } from "../../components/OneTimeSecret";
import { FormBody } from "../../forms/FormDialog";
import { PasswordField } from "../../forms/PasswordField";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { QrCode } from "./QrCode";
import { RecoveryCodes } from "./RecoveryCodes";
import { confirmSecondFactor, enableSecondFactor, type SecondFactorSecret, typedSecret } from "./secondFactor";

/** Sets up an authenticator app: password, secret with the first code, recovery codes. */
export function SecondFactorSetup({ onDone, close }: { onDone: () => void; close?: () => void }) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<SecondFactorSecret>();
  const [isConfirmed, setConfirmed] = useState(false);
  if (secret === undefined) return <PasswordStep onSecret={setSecret} {...(close ? { close } : {})} />;
  if (!isConfirmed)
    return <CodeStep uri={secret.uri} onConfirmed={() => setConfirmed(true)} {...(close ? { close } : {})} />;
  return (
    <>
      <output className="text-good font-medium">{t("secondFactor.isOn")}</output>
      <RecoveryCodes codes={secret.recoveryCodes} />
      <Button kind="main" className="self-start" onPress={onDone}>
        {t("secondFactor.kept")}
      </Button>
    </>
  );
}

function PasswordStep({ onSecret, close }: { onSecret: (secret: SecondFactorSecret) => void; close?: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: {},
    send: (_, fields) => enableSecondFactor(String(fields.get("password"))),
    onSent: onSecret,
    codes: { INVALID_PASSWORD: "password" },
  });
  return (
    <FormBody form={form} submitLabel={t("secondFactor.next")} {...(close ? { close } : {})}>
      <p>{t("secondFactor.need")}</p>
      <PasswordField label={t("me.passwordNow")} name="password" problem={form.problemAt("password")} />
    </FormBody>
  );
}

function CodeStep({ uri, onConfirmed, close }: { uri: string; onConfirmed: () => void; close?: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: { code: "" },
    send: ({ code }) => confirmSecondFactor(code),
    onSent: onConfirmed,
    codes: { INVALID_CODE: "code" },
  });
  return (
    <FormBody form={form} submitLabel={t("secondFactor.confirm")} {...(close ? { close } : {})}>
      <p>{t("secondFactor.scan")}</p>
      <QrCode text={uri} />
      <p className="text-soft text-sm">{t("secondFactor.orType")}</p>
      <OneTimeSecret secret={typedSecret(uri)} />
      <TextField
        label={t("secondFactor.code")}
        inputMode="numeric"
        autoComplete="one-time-code"
        isRequired
        {...form.field("code")}
      />
    </FormBody>
  );
}
