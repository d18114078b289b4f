import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Page } from "../../admin/Page";
import { isAdmin, only } from "../../lib/session";
import { Addresses } from "../../school/Addresses";
import { settings } from "../../school/admin";
import { Domains } from "../../school/Domains";
import { Settings } from "../../school/Settings";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";

export const Route = createFileRoute("/_school/admin/organisation")({ beforeLoad: only(isAdmin), component: Organisation });

/** S15: name, zone, language and rules of the school. */
function Organisation() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const found = useQuery(settings);
  return (
    <Page title={t("organisation.title")}>
      {found.isPending ? <Shape count={2} /> : null}
      {found.isError && !found.data ? <Problems problem={found.error} again={() => void found.refetch()} /> : null}
      {found.data ? (
        <div className="flex max-w-3xl flex-col gap-4">
          <Settings school={found.data} />
          <Addresses school={found.data} person={person} />
          <Domains />
        </div>
      ) : null}
    </Page>
  );
}
