import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { AdminPage } from "../../features/organization/AdminPage";
import { client, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { isAdmin, requireRole } from "../../auth/session";
import { EraseUser } from "../../features/organization/EraseUser";
import { PersonalExport } from "../../features/organization/PersonalExport";
import { SettingsSection } from "../../components/SettingsSection";
import { UserComboBox } from "../../features/users/UserComboBox";
import { EmptyState } from "../../components/base/EmptyState";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";

export const Route = createFileRoute("/_school/admin/privacy")({
  validateSearch: (search: Record<string, unknown>): { userId?: string } =>
    typeof search.userId === "string" ? { userId: search.userId } : {},
  beforeLoad: requireRole(isAdmin),
  component: Privacy,
});

/** Data stored about a user: export and deletion. */
function Privacy() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { userId } = Route.useSearch();
  const navigate = Route.useNavigate();
  const choose = (id: string | null) => navigate({ search: id === null ? {} : { userId: id }, replace: true });
  const about = useQuery({
    queryKey: queryKeys.users.one(userId ?? ""),
    queryFn: () => unwrap(client.GET("/users/{id}", { params: { path: { id: userId ?? "" } } })),
    enabled: userId !== undefined,
  });
  return (
    <AdminPage title={t("privacy.title")}>
      <p className="max-w-prose">{t("privacy.text")}</p>
      <div className="max-w-sm">
        <UserComboBox
          key={userId === undefined ? "none" : "some"}
          label={t("privacy.person")}
          value={userId ?? null}
          onChange={(id) => void choose(id)}
        />
      </div>
      {userId === undefined ? <EmptyState>{t("privacy.choose")}</EmptyState> : null}
      {userId !== undefined && about.isPending ? <Skeleton count={2} /> : null}
      {about.isError ? <ErrorMessage problem={about.error} onRetry={() => void about.refetch()} /> : null}
      {about.data && userId !== undefined ? (
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <SettingsSection title={t("privacy.exportTitle", { name: about.data.name })} text={t("privacy.exportText")}>
            <PersonalExport key={userId} admin={person.id} userId={userId} />
          </SettingsSection>
          <SettingsSection title={t("privacy.eraseOf", { name: about.data.name })} text={t("privacy.eraseHint")}>
            <EraseUser key={userId} userId={userId} name={about.data.name} onErased={() => choose(null)} />
          </SettingsSection>
        </div>
      ) : null}
    </AdminPage>
  );
}
