import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useState } from "react";
import type { SortDescriptor } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { RowText } from "../../components/RowText";
import { AdminPage } from "../../features/organization/AdminPage";
import { isAdmin, requireRole } from "../../auth/session";
import { SubjectDialog, Swatch } from "../../features/subjects/SubjectDialog";
import { useSubjectActions } from "../../features/subjects/useSubjectActions";
import { subjectsQuery, type Subject } from "../../features/subjects/subjects";
import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { EmptyState } from "../../components/base/EmptyState";
import { DataTable } from "../../components/DataTable";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";

export const Route = createFileRoute("/_school/admin/subjects")({
  beforeLoad: requireRole(isAdmin),
  component: Subjects,
});

/** The subjects of the school. */
function Subjects() {
  const { t } = useTranslation();
  const found = useQuery(subjectsQuery);
  const [edited, setEdited] = useState<Subject | "new" | null>(null);
  const add = (
    <Button kind="main" onPress={() => setEdited("new")}>
      {t("subjects.add")}
    </Button>
  );
  return (
    <AdminPage title={t("admin.subjects")} actions={found.data?.length === 0 ? undefined : add}>
      {found.isPending ? <ListSkeleton /> : null}
      {found.isError && !found.data ? (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data?.length === 0 ? <EmptyState action={add}>{t("subjects.none")}</EmptyState> : null}
      {found.data && found.data.length > 0 ? <SubjectList all={found.data} onEdit={setEdited} /> : null}
      {edited === null ? null : (
        <SubjectDialog subject={edited === "new" ? null : edited} onClose={() => setEdited(null)} />
      )}
    </AdminPage>
  );
}

function SubjectList({ all, onEdit }: { all: readonly Subject[]; onEdit: (subject: Subject) => void }) {
  const { t } = useTranslation();
  const { offer, remove } = useSubjectActions();
  const [sort, setSort] = useState<SortDescriptor>({ column: "name", direction: "ascending" });
  return (
    <DataTable
      label={t("admin.subjects")}
      rows={all}
      none={null}
      sort={sort}
      onSort={setSort}
      isLong
      columns={[
        {
          id: "name",
          name: t("people.name"),
          sort: (subject) => subject.name,
          cell: (subject) => (
            <span className="flex flex-wrap items-center gap-x-3">
              <Swatch color={subject.color ?? ""} />
              <Button
                kind="quiet"
                className="justify-start border-0 px-0! text-start [overflow-wrap:anywhere]"
                onPress={() => onEdit(subject)}
              >
                {subject.name}
              </Button>
              {subject.isActive ? null : (
                <span className="sm:hidden">
                  <Badge>{t("subjects.off")}</Badge>
                </span>
              )}
            </span>
          ),
        },
        {
          id: "code",
          name: t("subjects.code"),
          sort: (subject) => subject.code ?? "",
          cell: (subject) => <RowText>{subject.code ?? "–"}</RowText>,
        },
        {
          id: "state",
          name: t("people.state"),
          isExtra: true,
          sort: (subject) => Number(!subject.isActive),
          cell: (subject) => (
            <RowText>{subject.isActive ? t("subjects.on") : <Badge>{t("subjects.off")}</Badge>}</RowText>
          ),
        },
        {
          id: "description",
          name: t("subjects.description"),
          isExtra: true,
          cell: (subject) => (
            <span className="text-soft line-clamp-2 max-w-md py-2 text-sm">{subject.description}</span>
          ),
        },
        {
          id: "more",
          name: t("people.more"),
          isSlim: true,
          cell: (subject) => (
            <OverflowMenu
              label={subject.name}
              actions={[
                { id: "edit", name: t("subjects.change"), onAction: () => onEdit(subject) },
                {
                  id: "offer",
                  name: t(subject.isActive ? "subjects.switchOff" : "subjects.switchOn"),
                  onAction: () => offer.mutate({ subject, isActive: !subject.isActive }),
                },
                { id: "remove", name: t("app.delete"), isDanger: true, onAction: () => remove.mutate(subject) },
              ]}
            />
          ),
        },
      ]}
    />
  );
}
