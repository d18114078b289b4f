import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { changePassword, type Me } from "../../auth/session";
import { toast } from "../../components/base/toast";
import { FormBody } from "../../forms/FormDialog";
import { PasswordField } from "../../forms/PasswordField";
import { useForm } from "../../forms/useForm";
import { useErrorText } from "../../i18n/useErrorText";
import { SettingsSection } from "../../components/SettingsSection";
import { accountSessionsQuery } from "./account";
import { ResetNotice } from "./ResetNotice";

/** Changes the password. */
export function PasswordForm({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  // Uncontrolled fields are cleared by remounting them.
  const [fieldsKey, setFieldsKey] = useState(0);
  const form = useForm({
    initial: {},
    send: (_, fields) => changePassword(String(fields.get("current")), String(fields.get("password"))),
    onSent: () => {
      setFieldsKey(fieldsKey + 1);
      toast(t("me.passwordSaved"));
      return cache.invalidateQueries({ queryKey: accountSessionsQuery.queryKey });
    },
    codes: { INVALID_PASSWORD: "current" },
  });
  const currentProblem = form.problemAt("current");
  // Any other error is about the new password.
  const newProblem = form.problem === null || currentProblem !== undefined ? undefined : errorText(form.problem);
  return (
    <SettingsSection title={t("me.password")} text={t("me.passwordText")}>
      <ResetNotice reset={person.passwordReset} />
      <FormBody form={{ ...form, unshownProblem: () => null }} submitLabel={t("me.passwordGo")} kind="plain">
        <div key={fieldsKey} className="grid gap-4 sm:grid-cols-2">
          <PasswordField label={t("me.passwordNow")} name="current" problem={currentProblem} />
          <PasswordField label={t("password.new")} name="password" isNew problem={newProblem} />
        </div>
      </FormBody>
    </SettingsSection>
  );
}
