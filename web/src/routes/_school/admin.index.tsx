import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Page } from "../../admin/Page";
import { LateSaves } from "../../features/classes/LateSaves";
import { isAdmin, only } from "../../lib/session";
import { Health } from "../../school/Health";
import { Numbers } from "../../school/Numbers";
import { Storage } from "../../school/Storage";

export const Route = createFileRoute("/_school/admin/")({ beforeLoad: only(isAdmin), component: Overview });

/** S15: how the school and its service stand. */
function Overview() {
  const { t } = useTranslation();
  return (
    <Page title={t("admin.overview")}>
      <LateSaves />
      <Numbers />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Storage />
        <Health />
      </div>
    </Page>
  );
}
