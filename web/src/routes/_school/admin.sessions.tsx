import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useRef } from "react";
import { useTranslation } from "react-i18next";

import { Page } from "../../admin/Page";
import { client, type Schemas } from "../../api/client";
import { useSay } from "../../lib/problems";
import { isAdmin, only } from "../../lib/session";
import { useProgram } from "../../me/program";
import { isAbove, sessions } from "../../school/admin";
import { PersonSearch } from "../../school/PersonSearch";
import { Button } from "../../ui/Button";
import { Chip } from "../../ui/Chip";
import { Grid } from "../../ui/Grid";
import { note } from "../../ui/notes";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";
import { When } from "../../ui/When";

export const Route = createFileRoute("/_school/admin/sessions")({
  validateSearch: (search: Record<string, unknown>): { userId?: string } => (typeof search.userId === "string" ? { userId: search.userId } : {}),
  beforeLoad: only(isAdmin),
  component: Sessions,
});

/** Who is signed in, and ending it. */
function Sessions() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { userId } = Route.useSearch();
  const navigate = Route.useNavigate();
  const program = useProgram();
  const found = useInfiniteQuery(sessions(userId));
  const rows = found.data?.pages.flatMap((page) => page.data) ?? [];
  const place = useRef<HTMLDivElement>(null);
  const ending = useEnding(() => place.current?.focus());
  const columns = [
    { id: "person", name: t("sessions.person"), cell: (row: Schemas["Session"]) => row.user.name },
    { id: "role", name: t("sessions.role"), cell: (row: Schemas["Session"]) => t(`activity.role.${row.role}`) },
    { id: "device", name: t("sessions.device"), cell: (row: Schemas["Session"]) => program(row.userAgent) },
    { id: "address", name: t("sessions.address"), cell: (row: Schemas["Session"]) => row.ipAddress ?? "–" },
    { id: "since", name: t("sessions.since"), cell: (row: Schemas["Session"]) => <When at={row.createdAt} /> },
    { id: "until", name: t("sessions.until"), cell: (row: Schemas["Session"]) => <When at={row.expiresAt} /> },
    {
      id: "end",
      name: t("sessions.end"),
      cell: (row: Schemas["Session"]) =>
        row.isCurrent ? (
          <Chip tone="good">{t("me.here")}</Chip>
        ) : row.userId === person.id || isAbove(person.member?.role, row.role) ? (
          <Button isPending={ending.isPending} onPress={() => ending.mutate(row.id)} aria-label={t("sessions.endOf", { name: row.user.name })}>
            {t("account.signOut")}
          </Button>
        ) : null,
    },
  ];
  return (
    <Page title={t("admin.sessions")}>
      <div className="max-w-sm">
        <PersonSearch label={t("sessions.person")} value={userId ?? null} onChange={(id) => void navigate({ search: id === null ? {} : { userId: id }, replace: true })} />
      </div>
      {found.isPending ? <Shape count={3} /> : null}
      {found.isError && !found.data ? <Problems problem={found.error} again={() => void found.refetch()} /> : null}
      {found.data ? (
        <div ref={place} role="group" tabIndex={-1} aria-label={t("admin.sessions")} className="outline-none">
          <Grid label={t("admin.sessions")} columns={columns} rows={rows} none={t("sessions.none")} />
        </div>
      ) : null}
      {found.hasNextPage ? (
        <Button className="self-center" isPending={found.isFetchingNextPage} onPress={() => void found.fetchNextPage()}>
          {t("app.loadMore")}
        </Button>
      ) : null}
    </Page>
  );
}

/** Ends a session; its line goes, so the focus has to go elsewhere first. */
function useEnding(onEnded: () => void) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const say = useSay();
  return useMutation({
    mutationFn: (id: string) => client.DELETE("/admin/sessions/{id}", { params: { path: { id } } }),
    onSuccess: () => {
      onEnded();
      note(t("me.ended"));
      return cache.invalidateQueries({ queryKey: ["admin", "sessions"] });
    },
    onError: (problem) => note(say(problem)),
  });
}
