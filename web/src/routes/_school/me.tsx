import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { Suspense } from "react";
import { useTranslation } from "react-i18next";

import { isStaff, meQuery } from "../../auth/session";
import { EmailForm } from "../../features/account/EmailForm";
import { BoardPreferences } from "../../features/account/BoardPreferences";
import { SessionList } from "../../features/account/SessionList";
import { OwnDataExport } from "../../features/account/OwnDataExport";
import { PasswordForm } from "../../features/account/PasswordForm";
import { ProfileForm } from "../../features/account/ProfileForm";
import { lazyPart } from "../../components/lazyPart";
import { loadTexts } from "../../i18n";
import { PageHeading } from "../../components/PageHeading";

const SecondFactorSection = lazyPart(async () => {
  await loadTexts("secondFactor");
  return (await import("../../features/secondFactor/SecondFactorSection")).SecondFactorSection;
});

const PasskeySection = lazyPart(async () => {
  await loadTexts("passkey");
  return (await import("../../features/passkeys/PasskeySection")).PasskeySection;
});

export const Route = createFileRoute("/_school/me")({
  validateSearch: (search: Record<string, unknown>): { address?: "changed" | "expired" } =>
    search.address === "changed" || search.address === "expired" ? { address: search.address } : {},
  component: OwnAccount,
});

/** The user's account: profile, language, password, sessions, data export. */
function OwnAccount() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { address } = Route.useSearch();
  const known = useQuery(meQuery).data ?? person;
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <PageHeading title={t("account.profile")}>{t("account.profile")}</PageHeading>
      <ProfileForm person={known} />
      <EmailForm person={known} outcome={address} />
      <PasswordForm person={known} />
      <Suspense>
        <PasskeySection />
        <SecondFactorSection person={known} />
      </Suspense>
      {isStaff(known) ? <BoardPreferences /> : null}
      <SessionList />
      <OwnDataExport />
    </div>
  );
}
