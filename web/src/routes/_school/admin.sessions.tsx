import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useRef } from "react";
import { useTranslation } from "react-i18next";

import { AdminPage } from "../../features/organization/AdminPage";
import { client, type Schemas } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { isAdmin, requireRole } from "../../auth/session";
import { useUserAgentText } from "../../features/account/userAgent";
import { isRoleAbove, sessionsQuery } from "../../features/organization/organization";
import { RowText } from "../../components/RowText";
import { UserComboBox } from "../../features/users/UserComboBox";
import { Button } from "../../components/Button";
import { LoadMore } from "../../components/LoadMore";
import { Badge } from "../../components/base/Badge";
import { type DataColumn, DataTable } from "../../components/DataTable";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Time } from "../../components/base/Time";
import { useIsWide } from "../../hooks/useIsWide";

export const Route = createFileRoute("/_school/admin/sessions")({
  validateSearch: (search: Record<string, unknown>): { userId?: string } =>
    typeof search.userId === "string" ? { userId: search.userId } : {},
  beforeLoad: requireRole(isAdmin),
  component: Sessions,
});

type Session = Schemas["Session"];

/** Active sessions; each can be ended. */
function Sessions() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { userId } = Route.useSearch();
  const navigate = Route.useNavigate();
  const program = useUserAgentText();
  const found = useInfiniteQuery(sessionsQuery(userId));
  const rows = found.data?.pages.flatMap((page) => page.data) ?? [];
  const place = useRef<HTMLDivElement>(null);
  const ending = useEndSession(() => place.current?.focus());
  const columns: DataColumn<Session>[] = [
    { id: "person", name: t("sessions.person"), cell: (row) => <SessionUser session={row} /> },
    {
      id: "role",
      name: t("sessions.role"),
      isExtra: true,
      cell: (row) => <RowText>{t(`activity.role.${row.role}`)}</RowText>,
    },
    {
      id: "device",
      name: t("sessions.device"),
      isExtra: true,
      cell: (row) => <RowText>{program(row.userAgent)}</RowText>,
    },
    {
      id: "address",
      name: t("sessions.address"),
      isExtra: true,
      cell: (row) => <RowText>{row.ipAddress ?? "–"}</RowText>,
    },
    {
      id: "since",
      name: t("sessions.since"),
      isExtra: true,
      cell: (row) => (
        <RowText>
          <Time at={row.createdAt} />
        </RowText>
      ),
    },
    {
      id: "until",
      name: t("sessions.until"),
      isExtra: true,
      cell: (row) => (
        <RowText>
          <Time at={row.expiresAt} />
        </RowText>
      ),
    },
    {
      id: "end",
      name: t("sessions.end"),
      isSlim: true,
      cell: (row) =>
        row.isCurrent ? (
          <RowText>
            <Badge tone="good">{t("me.here")}</Badge>
          </RowText>
        ) : row.userId === person.id || isRoleAbove(person.member?.role, row.role) ? (
          <Button
            className="whitespace-nowrap"
            isPending={ending.isPending}
            onPress={() => ending.mutate(row.id)}
            aria-label={t("sessions.endOf", { name: row.user.name })}
          >
            {t("account.signOut")}
          </Button>
        ) : null,
    },
  ];
  return (
    <AdminPage title={t("admin.sessions")}>
      <div className="max-w-sm">
        <UserComboBox
          label={t("sessions.person")}
          value={userId ?? null}
          onChange={(id) => void navigate({ search: id === null ? {} : { userId: id }, replace: true })}
        />
      </div>
      {found.isPending ? <ListSkeleton /> : null}
      {found.isError && !found.data ? (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data ? (
        <div ref={place} tabIndex={-1} className="outline-none">
          <DataTable label={t("admin.sessions")} columns={columns} rows={rows} none={t("sessions.none")} />
        </div>
      ) : null}
      <LoadMore pages={found} className="self-center" />
    </AdminPage>
  );
}

/** User of a session; on narrow screens with the browser. */
function SessionUser({ session }: { session: Session }) {
  const program = useUserAgentText();
  if (useIsWide()) return <RowText>{session.user.name}</RowText>;
  return (
    <>
      {session.user.name}
      <span className="text-soft block text-sm">
        {program(session.userAgent)}, <Time at={session.createdAt} />
      </span>
    </>
  );
}

/** Ends a session; its row is removed, so the focus moves first. */
function useEndSession(onEnded: () => void) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  return useMutation({
    mutationFn: (id: string) => client.DELETE("/admin/sessions/{id}", { params: { path: { id } } }),
    onSuccess: () => {
      onEnded();
      toast(t("me.ended"));
      return cache.invalidateQueries({ queryKey: queryKeys.admin.sessions() });
    },
    onError: (problem) => toast(errorText(problem)),
  });
}
