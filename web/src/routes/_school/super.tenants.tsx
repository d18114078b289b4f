import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isSuper, requireRole } from "../../auth/session";
import { InstallationStatus } from "../../features/tenants/InstallationStatus";
import { TenantList } from "../../features/tenants/TenantList";
import { PageHeading } from "../../components/PageHeading";
import { Tabs } from "../../components/Tabs";

interface TenantsSearch {
  tab?: "installation";
  search?: string;
}

export const Route = createFileRoute("/_school/super/tenants")({
  validateSearch: (search: Record<string, unknown>): TenantsSearch => ({
    ...(search.tab === "installation" ? { tab: "installation" } : {}),
    ...(typeof search.search === "string" && search.search !== "" ? { search: search.search } : {}),
  }),
  beforeLoad: requireRole(isSuper),
  component: Tenants,
});

/** The schools of this installation. */
function Tenants() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { tab, search = "" } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <div className="flex flex-col gap-4">
      <PageHeading title={t("nav.tenants")}>{t("nav.tenants")}</PageHeading>
      <Tabs
        label={t("nav.tenants")}
        open={tab ?? "schools"}
        onOpen={(id) => void navigate({ search: id === "installation" ? { tab: id } : {} })}
        parts={[
          {
            id: "schools",
            name: t("nav.tenants"),
            content: () => (
              <TenantList
                person={person}
                search={search}
                onSearch={(next) => void navigate({ search: next === "" ? {} : { search: next }, replace: true })}
              />
            ),
          },
          { id: "installation", name: t("health.installation"), content: () => <InstallationStatus /> },
        ]}
      />
    </div>
  );
}
