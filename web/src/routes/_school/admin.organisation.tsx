import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { Suspense } from "react";
import { useTranslation } from "react-i18next";

import { AdminPage } from "../../features/organization/AdminPage";
import { isAdmin, requireRole } from "../../auth/session";
import { SchoolAddresses } from "../../features/organization/SchoolAddresses";
import { settingsQuery } from "../../features/organization/organization";
import { ApiTokens } from "../../features/organization/ApiTokens";
import { MailDomains } from "../../features/organization/MailDomains";
import { OrganizationSettings } from "../../features/organization/OrganizationSettings";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { lazyPart } from "../../components/lazyPart";
import { loadTexts } from "../../i18n";

const SignOn = lazyPart(async () => {
  const [{ SignOn: section }] = await Promise.all([import("../../features/organization/SignOn"), loadTexts("signOn")]);
  return section;
});

export const Route = createFileRoute("/_school/admin/organisation")({
  beforeLoad: requireRole(isAdmin),
  component: Organisation,
});

/** Name, time zone, language and rules of the school. */
function Organisation() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const found = useQuery(settingsQuery);
  return (
    <AdminPage title={t("organisation.title")}>
      {found.isPending ? <Skeleton count={2} /> : null}
      {found.isError && !found.data ? (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data ? (
        <div className="flex max-w-3xl flex-col gap-4">
          <OrganizationSettings school={found.data} />
          <SchoolAddresses school={found.data} person={person} />
          <MailDomains />
          <ApiTokens />
          <Suspense>
            <SignOn />
          </Suspense>
        </div>
      ) : null}
    </AdminPage>
  );
}
