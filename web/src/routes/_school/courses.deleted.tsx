import { createFileRoute, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isStaff, requireRole } from "../../auth/session";
import { PageHeader } from "../../components/PageHeader";
import { DeletionList } from "../../features/deletions/DeletionList";

export const Route = createFileRoute("/_school/courses/deleted")({
  beforeLoad: requireRole(isStaff),
  component: Deletions,
});

/** What the user deleted in the classes that they manage and can restore. */
function Deletions() {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-4">
      <PageHeader
        title={t("deletions.title")}
        breadcrumbs={
          <Link to="/courses" className="inline-flex min-h-11 items-center">
            {t("nav.courses")}
          </Link>
        }
      />
      <DeletionList />
    </div>
  );
}
