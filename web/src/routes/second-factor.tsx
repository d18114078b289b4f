import { useQueryClient } from "@tanstack/react-query";
import { createFileRoute, useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { AuthPage } from "../auth/AuthPage";
import { SignOutButton } from "../auth/SignOutButton";
import { AddPasskey } from "../features/passkeys/AddPasskey";
import { SecondFactorSetup } from "../features/secondFactor/SecondFactorSetup";
import { loadTexts } from "../i18n";

export const Route = createFileRoute("/second-factor")({
  beforeLoad: () => loadTexts("lesson", "other", "secondFactor", "passkey"),
  component: RequiredSecondFactor,
});

/** Users who are required to have a second factor and have none set one up before they do anything else. */
function RequiredSecondFactor() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const enter = () => {
    cache.clear();
    void navigate({ to: "/" });
  };
  return (
    <AuthPage title={t("secondFactor.setUpTitle")}>
      <p>{t("secondFactor.required")}</p>
      <SecondFactorSetup onDone={enter} />
      <h2>{t("passkey.or")}</h2>
      <AddPasskey onDone={enter} />
      <SignOutButton />
    </AuthPage>
  );
}
