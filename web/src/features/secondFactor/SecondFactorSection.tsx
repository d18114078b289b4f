import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { meQuery, type Me } from "../../auth/session";
import { Badge } from "../../components/base/Badge";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { SettingsSection } from "../../components/SettingsSection";
import { FormBody } from "../../forms/FormDialog";
import { PasswordField } from "../../forms/PasswordField";
import { useForm } from "../../forms/useForm";
import { accountSessionsQuery } from "../account/account";
import { RecoveryCodes } from "./RecoveryCodes";
import { SecondFactorSetup } from "./SecondFactorSetup";
import { disableSecondFactor, renewRecoveryCodes } from "./secondFactor";

/** The second factor of the user: setting it up, new recovery codes, removing it. */
export function SecondFactorSection({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [open, setOpen] = useState<"setup" | "codes" | "remove">();
  const close = () => setOpen(undefined);
  const refresh = () => {
    close();
    void cache.invalidateQueries({ queryKey: accountSessionsQuery.queryKey });
    return cache.invalidateQueries({ queryKey: meQuery.queryKey });
  };
  return (
    <SettingsSection title={t("secondFactor.title")} text={t("secondFactor.text")}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Badge tone={person.hasAuthenticatorApp ? "good" : "plain"}>
          {person.hasAuthenticatorApp ? t("secondFactor.on") : t("secondFactor.off")}
        </Badge>
        <span className="flex flex-wrap gap-2">
          {person.hasSecondFactor ? (
            <Button onPress={() => setOpen("codes")}>{t("secondFactor.newCodes")}</Button>
          ) : null}
          {person.hasAuthenticatorApp ? (
            <Button onPress={() => setOpen("remove")}>{t("secondFactor.remove")}</Button>
          ) : (
            <Button onPress={() => setOpen("setup")}>{t("secondFactor.setUp")}</Button>
          )}
        </span>
      </div>
      {open === "setup" ? (
        <Dialog
          title={t("secondFactor.setUpTitle")}
          role="alertdialog"
          isOpen
          onOpenChange={(isOpen) => isOpen || void refresh()}
        >
          {() => <SecondFactorSetup onDone={() => void refresh()} close={() => void refresh()} />}
        </Dialog>
      ) : null}
      {open === "codes" ? (
        <Dialog
          title={t("secondFactor.newCodesTitle")}
          role="alertdialog"
          isOpen
          onOpenChange={(isOpen) => isOpen || close()}
        >
          {() => <NewCodes close={close} />}
        </Dialog>
      ) : null}
      {open === "remove" ? (
        <Dialog title={t("secondFactor.removeTitle")} isOpen onOpenChange={(isOpen) => isOpen || close()}>
          {() => <Remove close={close} onRemoved={refresh} />}
        </Dialog>
      ) : null}
    </SettingsSection>
  );
}

function NewCodes({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: {},
    send: (_, fields) => renewRecoveryCodes(String(fields.get("password"))),
    codes: { INVALID_PASSWORD: "password" },
  });
  if (form.result !== undefined)
    return (
      <>
        <RecoveryCodes codes={form.result} />
        <Button kind="main" className="self-start" onPress={close}>
          {t("secondFactor.kept")}
        </Button>
      </>
    );
  return (
    <FormBody form={form} submitLabel={t("secondFactor.newCodesGo")} close={close}>
      <p>{t("secondFactor.newCodesText")}</p>
      <PasswordField label={t("me.passwordNow")} name="password" problem={form.problemAt("password")} />
    </FormBody>
  );
}

function Remove({ close, onRemoved }: { close: () => void; onRemoved: () => unknown }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: {},
    send: (_, fields) => disableSecondFactor(String(fields.get("password"))),
    onSent: () => {
      toast(t("secondFactor.removed"));
      return onRemoved();
    },
    codes: { INVALID_PASSWORD: "password" },
  });
  return (
    <FormBody form={form} submitLabel={t("secondFactor.removeGo")} close={close}>
      <p>{t("secondFactor.removeText")}</p>
      <PasswordField label={t("me.passwordNow")} name="password" problem={form.problemAt("password")} />
    </FormBody>
  );
}
