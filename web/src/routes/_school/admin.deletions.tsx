import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isAdmin, requireRole } from "../../auth/session";
import { DeletionList } from "../../features/deletions/DeletionList";
import { AdminPage } from "../../features/organization/AdminPage";

export const Route = createFileRoute("/_school/admin/deletions")({
  beforeLoad: requireRole(isAdmin),
  component: Deletions,
});

/** Everything deleted in the school that can be restored. */
function Deletions() {
  const { t } = useTranslation();
  return (
    <AdminPage title={t("deletions.title")}>
      <DeletionList />
    </AdminPage>
  );
}
