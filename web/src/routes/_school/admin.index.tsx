import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { AdminPage } from "../../features/organization/AdminPage";
import { LateSaves } from "../../features/classes/LateSaves";
import { isAdmin, requireRole } from "../../auth/session";
import { FirstSteps } from "../../features/organization/FirstSteps";
import { ServiceHealth } from "../../features/organization/ServiceHealth";
import { OrganizationStats } from "../../features/organization/OrganizationStats";
import { StorageUsage } from "../../features/organization/StorageUsage";

export const Route = createFileRoute("/_school/admin/")({ beforeLoad: requireRole(isAdmin), component: Overview });

/** Overview of the school and the health of its service. */
function Overview() {
  const { t } = useTranslation();
  return (
    <AdminPage title={t("admin.overview")}>
      <FirstSteps />
      <LateSaves />
      <OrganizationStats />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <StorageUsage />
        <ServiceHealth />
      </div>
    </AdminPage>
  );
}
