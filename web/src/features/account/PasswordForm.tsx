import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Problem } from "../../api/client";
import { PasswordField } from "../../forms/PasswordField";
import { useErrorText } from "../../i18n/useErrorText";
import { changePassword, type Me } from "../../auth/session";
import { SettingsSection } from "../organization/SettingsSection";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { accountSessionsQuery } from "./account";
import { ResetNotice } from "./ResetNotice";

/** Changes the password. */
export function PasswordForm({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  // Uncontrolled fields are cleared by remounting them.
  const [formKey, setFormKey] = useState(0);
  const changing = useMutation({
    mutationFn: (form: FormData) => changePassword(String(form.get("current")), String(form.get("password"))),
    onSuccess: () => {
      setFormKey(formKey + 1);
      toast(t("me.passwordSaved"));
      return cache.invalidateQueries({ queryKey: accountSessionsQuery.queryKey });
    },
  });
  const isOld = changing.error instanceof Problem && changing.error.code === "INVALID_PASSWORD";
  return (
    <SettingsSection title={t("me.password")} text={t("me.passwordText")}>
      <ResetNotice reset={person.passwordReset} />
      <Form
        key={formKey}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          changing.mutate(new FormData(event.currentTarget));
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <PasswordField
            label={t("me.passwordNow")}
            name="current"
            problem={isOld ? errorText(changing.error) : undefined}
          />
          <PasswordField
            label={t("password.new")}
            name="password"
            isNew
            problem={changing.isError && !isOld ? errorText(changing.error) : undefined}
          />
        </div>
        <Button type="submit" className="self-start" isPending={changing.isPending}>
          {t("me.passwordGo")}
        </Button>
      </Form>
    </SettingsSection>
  );
}
