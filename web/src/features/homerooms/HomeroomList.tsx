import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SortDescriptor } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { staffQuery } from "../users/users";
import { Button } from "../../components/Button";
import { OptionalSelect } from "../../forms/Select";
import { EmptyState } from "../../components/base/EmptyState";
import { DataTable } from "../../components/DataTable";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { HomeroomDialog } from "./HomeroomDialog";
import { homeroomsQuery, type Homeroom } from "./homerooms";
import { DeleteHomeroomDialog } from "./DeleteHomeroomDialog";

interface Props {
  year: string | undefined;
  onYear: (year: string | undefined) => void;
  onOpen: (id: string) => void;
  onAdd: () => void;
}

/** The homerooms of a school, of one year or all. */
export function HomeroomList({ year, onYear, onOpen, onAdd }: Props) {
  const { t } = useTranslation();
  const found = useQuery(homeroomsQuery);
  const { data: known = [] } = useQuery(staffQuery);
  const [sort, setSort] = useState<SortDescriptor>({ column: "name", direction: "ascending" });
  const [edited, setEdited] = useState<Homeroom | null>(null);
  const [removed, setRemoved] = useState<Homeroom | null>(null);
  if (found.isPending) return <ListSkeleton />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  if (found.data.length === 0) {
    return (
      <EmptyState
        action={
          <Button kind="main" onPress={onAdd}>
            {t("homerooms.add")}
          </Button>
        }
      >
        {t("homerooms.none")}
      </EmptyState>
    );
  }
  const years = [...new Set(found.data.flatMap((room) => room.academicYear ?? []))].toSorted().toReversed();
  const teacher = (room: Homeroom) => known.find((user) => user.id === room.teacherId)?.name ?? "";
  return (
    <div className="flex flex-col gap-4">
      {years.length > 1 ? (
        <div className="max-w-xs">
          <OptionalSelect
            label={t("homerooms.year")}
            none={t("app.all")}
            options={years.map((id) => ({ id, name: id }))}
            value={year ?? null}
            onChange={(id) => onYear(id ?? undefined)}
          />
        </div>
      ) : null}
      <DataTable
        label={t("admin.homerooms")}
        rows={found.data.filter((room) => year === undefined || room.academicYear === year)}
        none={t("homerooms.noneHere")}
        sort={sort}
        onSort={setSort}
        isLong
        columns={[
          {
            id: "name",
            name: t("people.name"),
            sort: (room) => room.name,
            cell: (room) => (
              <span className="flex flex-col items-start">
                <Button kind="quiet" className="-mx-1 justify-start border-0 px-1!" onPress={() => onOpen(room.id)}>
                  {room.name}
                </Button>
                <span className="text-soft -mt-2 text-sm sm:hidden">
                  {[room.academicYear, teacher(room)].filter(Boolean).join(" · ")}
                </span>
              </span>
            ),
          },
          {
            id: "year",
            name: t("homerooms.year"),
            isExtra: true,
            sort: (room) => room.academicYear ?? "",
            cell: (room) => <CountCell>{room.academicYear ?? "–"}</CountCell>,
          },
          {
            id: "grade",
            name: t("homerooms.grade"),
            isExtra: true,
            sort: (room) => room.gradeLevel ?? "",
            cell: (room) => <CountCell>{room.gradeLevel ?? "–"}</CountCell>,
          },
          {
            id: "teacher",
            name: t("homerooms.teacher"),
            isExtra: true,
            sort: teacher,
            cell: (room) => <CountCell>{teacher(room) || "–"}</CountCell>,
          },
          {
            id: "students",
            name: t("homerooms.students"),
            sort: (room) => room.studentCount,
            cell: (room) => <CountCell>{room.studentCount}</CountCell>,
          },
          {
            id: "more",
            name: t("people.more"),
            isSlim: true,
            cell: (room) => (
              <OverflowMenu
                label={room.name}
                actions={[
                  { id: "open", name: t("homerooms.open"), onAction: () => onOpen(room.id) },
                  { id: "edit", name: t("homerooms.change"), onAction: () => setEdited(room) },
                  { id: "remove", name: t("homerooms.remove"), isDanger: true, onAction: () => setRemoved(room) },
                ]}
              />
            ),
          },
        ]}
      />
      {edited ? <HomeroomDialog homeroom={edited} onClose={() => setEdited(null)} /> : null}
      {removed ? <DeleteHomeroomDialog homeroom={removed} onClose={() => setRemoved(null)} /> : null}
    </div>
  );
}

/** Aligned with the name in the same row. */
const CountCell = ({ children }: { children: string | number }) => (
  <span className="flex min-h-11 items-center tabular-nums">{children}</span>
);
