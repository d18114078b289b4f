import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { AdminPage } from "../organization/AdminPage";
import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { staffQuery } from "../users/users";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/base/EmptyState";
import { DataTable } from "../../components/DataTable";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { HomeroomDialog } from "./HomeroomDialog";
import { EnrolDialog } from "./EnrolDialog";
import { FirstPasswordsDialog } from "./FirstPasswordsDialog";
import { homeroomLabel, homeroomsQuery, homeroomStudentsQuery, type HomeroomStudent } from "./homerooms";
import { DeleteHomeroomDialog } from "./DeleteHomeroomDialog";

/** One homeroom with its students and teacher. */
export function HomeroomDetails({ id, onBack }: { id: string; onBack: () => void }) {
  const { t } = useTranslation();
  const homeroomsQueryResult = useQuery(homeroomsQuery);
  const students = useQuery(homeroomStudentsQuery(id));
  const { data: known = [] } = useQuery(staffQuery);
  const [open, setOpen] = useState<"edit" | "remove" | "enrol" | "passwords" | null>(null);
  const homeroom = homeroomsQueryResult.data?.find((one) => one.id === id);
  const close = () => setOpen(null);
  const removing = useRemoveStudent(id);
  if (homeroomsQueryResult.isPending)
    return (
      <AdminPage title={t("admin.homerooms")}>
        <ListSkeleton />
      </AdminPage>
    );
  if (!homeroom)
    return (
      <AdminPage title={t("admin.homerooms")}>
        <EmptyState action={<Button onPress={onBack}>{t("homerooms.back")}</Button>}>
          {t("problem.NOT_FOUND")}
        </EmptyState>
      </AdminPage>
    );
  const teacher = known.find((user) => user.id === homeroom.teacherId)?.name;
  const rows = (students.data ?? []).map((one) => ({ ...one, id: one.user.id }));
  const actions = (
    <>
      <Button kind="main" onPress={() => setOpen("enrol")}>
        {t("homerooms.enrol")}
      </Button>
      <OverflowMenu
        label={homeroom.name}
        actions={[
          { id: "passwords", name: t("homerooms.passwordsDeed"), onAction: () => setOpen("passwords") },
          { id: "edit", name: t("homerooms.change"), onAction: () => setOpen("edit") },
          { id: "remove", name: t("homerooms.remove"), isDanger: true, onAction: () => setOpen("remove") },
        ]}
      />
    </>
  );
  return (
    <AdminPage title={homeroomLabel(homeroom)} actions={actions}>
      <p className="flex flex-wrap gap-x-4">
        <Link to="/admin/homerooms" className="inline-flex min-h-11 items-center">
          ‹ {t("homerooms.back")}
        </Link>
        <span className="text-soft inline-flex items-center">
          {[
            teacher === undefined ? t("homerooms.noTeacher") : t("homerooms.ledBy", { name: teacher }),
            homeroom.gradeLevel === null ? "" : t("homerooms.ofGrade", { grade: homeroom.gradeLevel }),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </p>
      {students.isPending ? <ListSkeleton /> : null}
      {students.isError ? <ErrorMessage problem={students.error} onRetry={() => void students.refetch()} /> : null}
      {students.data?.length === 0 ? (
        <EmptyState action={<Button onPress={() => setOpen("enrol")}>{t("homerooms.enrol")}</Button>}>
          {t("homerooms.nobody")}
        </EmptyState>
      ) : null}
      {rows.length > 0 ? (
        <>
          <DataTable
            label={t("homerooms.students")}
            rows={rows}
            none={null}
            isLong
            columns={[
              { id: "name", name: t("people.name"), cell: (row) => <StudentName row={row} /> },
              {
                id: "email",
                name: t("people.email"),
                isExtra: true,
                cell: (row) => <span className="text-soft flex min-h-11 items-center">{row.user.email}</span>,
              },
              {
                id: "more",
                name: t("people.more"),
                isSlim: true,
                cell: (row) => (
                  <Button
                    kind="quiet"
                    className="px-0"
                    aria-label={t("homerooms.takeOut", { name: row.user.name })}
                    onPress={() => removing.mutate({ row, isIn: false })}
                  >
                    <X aria-hidden="true" className="size-5" />
                  </Button>
                ),
              },
            ]}
          />
          <p className="text-soft">{t("homerooms.count", { count: rows.length })}</p>
        </>
      ) : null}
      {open === "edit" ? <HomeroomDialog homeroom={homeroom} onClose={close} /> : null}
      {open === "remove" ? <DeleteHomeroomDialog homeroom={homeroom} onClose={close} onDeleted={onBack} /> : null}
      {open === "passwords" ? <FirstPasswordsDialog homeroom={homeroom} onClose={close} /> : null}
      {open === "enrol" ? (
        <EnrolDialog homeroom={homeroom} enrolledIds={new Set(rows.map((row) => row.id))} onClose={close} />
      ) : null}
    </AdminPage>
  );
}

function StudentName({ row }: { row: HomeroomStudent }) {
  return (
    <span className="flex flex-col items-start [overflow-wrap:anywhere]">
      <Link to="/admin/users" search={{ person: row.user.id }} className="inline-flex min-h-11 items-center">
        {row.user.name}
      </Link>
      <span className="text-soft -mt-3 pb-1 text-sm sm:hidden">{row.user.email}</span>
    </span>
  );
}

/** Removes a student from the homeroom; can be undone. */
function useRemoveStudent(id: string) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: async ({ row, isIn }: { row: HomeroomStudent; isIn: boolean }) => {
      if (isIn)
        await unwrap(
          client.POST("/homerooms/{id}/students", { params: { path: { id } }, body: { studentIds: [row.user.id] } }),
        );
      else
        await unwrap(
          client.DELETE("/homerooms/{id}/students/{studentId}", { params: { path: { id, studentId: row.user.id } } }),
        );
    },
    onSuccess: async (_, { row, isIn }) => {
      await invalidate(cache, "homerooms");
      if (!isIn) toast(t("homerooms.takenOut", { name: row.user.name }), () => remove.mutate({ row, isIn: true }));
    },
    onError: (problem) => void toast(errorText(problem)),
  });
  return remove;
}
