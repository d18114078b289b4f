import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, Problem } from "../api/client";
import { Button } from "../components/Button";
import { Checkbox } from "../forms/Checkbox";
import { Form } from "../forms/Form";
import { TextField } from "../forms/TextField";
import { confirmWithPasskey } from "../features/passkeys/passkeys";
import { FormAlert } from "./FormAlert";
import type { SecondFactorMethods } from "./session";

/** Errors after which email address and password have to be entered again. */
const OVER = ["INVALID_TWO_FACTOR_COOKIE", "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE"];

interface SecondStepProps {
  methods: SecondFactorMethods;
  onDone: () => void;
  onCancel: () => void;
}

/** The second step of a sign-in: a passkey, a code of the authenticator app, or a recovery code. */
export function SecondStep({ methods, onDone, onCancel }: SecondStepProps) {
  const [isPasskey, setPasskey] = useState(methods.includes("passkey"));
  return isPasskey ? (
    <PasskeyStep onDone={onDone} onCancel={onCancel} onOther={() => setPasskey(false)} />
  ) : (
    <CodeStep methods={methods} onDone={onDone} onCancel={onCancel} onPasskey={() => setPasskey(true)} />
  );
}

interface PasskeyStepProps {
  onDone: () => void;
  onCancel: () => void;
  onOther: () => void;
}

function PasskeyStep({ onDone, onCancel, onOther }: PasskeyStepProps) {
  const { t } = useTranslation();
  const confirming = useMutation({ mutationFn: confirmWithPasskey, onSuccess: onDone });
  return (
    <div className="flex flex-col gap-4">
      <p>{t("passkey.useText")}</p>
      {confirming.isError ? <FormAlert problem={confirming.error} /> : null}
      <Button kind="main" autoFocus isPending={confirming.isPending} onPress={() => confirming.mutate()}>
        {t("passkey.use")}
      </Button>
      <p className="flex flex-wrap gap-2">
        <Button kind="quiet" onPress={onOther}>
          {t("secondFactor.useCode")}
        </Button>
        <Button kind="quiet" onPress={onCancel}>
          {t("app.back")}
        </Button>
      </p>
    </div>
  );
}

function CodeStep({ methods, onDone, onCancel, onPasskey }: SecondStepProps & { onPasskey: () => void }) {
  const { t } = useTranslation();
  const form = useRef<HTMLFormElement>(null);
  const hasApp = methods.includes("totp");
  const [isRecovery, setRecovery] = useState(!hasApp);
  const [isTrusting, setTrusting] = useState(false);
  // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the field is replaced when the kind of code changes
  useEffect(() => form.current?.querySelector("input")?.focus(), [isRecovery]);
  const verifying = useMutation({
    mutationFn: async (fields: FormData) => {
      const body = { code: String(fields.get("code")).trim(), trustDevice: isTrusting };
      await (isRecovery
        ? client.POST("/auth/two-factor/verify-backup-code", { body })
        : client.POST("/auth/two-factor/verify-totp", { body }));
    },
    onSuccess: onDone,
  });
  const isOver = verifying.error instanceof Problem && OVER.includes(verifying.error.code);
  const change = () => {
    verifying.reset();
    setRecovery(!isRecovery);
  };
  if (isOver)
    return (
      <>
        <FormAlert problem={verifying.error} />
        <Button kind="main" onPress={onCancel}>
          {t("secondFactor.again")}
        </Button>
      </>
    );
  return (
    <Form ref={form} isPending={verifying.isPending} onSubmit={verifying.mutate}>
      <p>{isRecovery ? t("secondFactor.enterRecovery") : t("secondFactor.enterCode")}</p>
      {verifying.isError ? <FormAlert problem={verifying.error} /> : null}
      {isRecovery ? (
        <TextField key="recovery" label={t("secondFactor.recoveryCode")} name="code" isRequired />
      ) : (
        <TextField
          key="app"
          label={t("secondFactor.code")}
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          isRequired
        />
      )}
      <Checkbox isSelected={isTrusting} onChange={setTrusting}>
        {t("secondFactor.trust")}
      </Checkbox>
      <Button kind="main" type="submit" isPending={verifying.isPending}>
        {t("signIn.go")}
      </Button>
      <p className="flex flex-wrap gap-2">
        {hasApp ? (
          <Button kind="quiet" onPress={change}>
            {isRecovery ? t("secondFactor.useApp") : t("secondFactor.useRecovery")}
          </Button>
        ) : null}
        {methods.includes("passkey") ? (
          <Button kind="quiet" onPress={onPasskey}>
            {t("passkey.use")}
          </Button>
        ) : null}
        <Button kind="quiet" onPress={onCancel}>
          {t("app.back")}
        </Button>
      </p>
    </Form>
  );
}
