import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { LoadMore } from "../../components/LoadMore";
import { type DataColumn, DataTable } from "../../components/DataTable";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { RowText } from "../../components/RowText";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { EmptyState } from "../../components/base/EmptyState";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { Time } from "../../components/base/Time";
import { useIsWide } from "../../hooks/useIsWide";
import { useTime } from "../../i18n/time";
import { type Deletion, deletionsQuery, useDiscard, useRestore } from "./deletions";

/** Deleted objects that the user can restore, newest first. */
export function DeletionList() {
  const { t } = useTranslation();
  const { day } = useTime();
  const found = useInfiniteQuery(deletionsQuery);
  const rows = found.data?.pages.flatMap((page) => page.data) ?? [];
  const place = useRef<HTMLDivElement>(null);
  const restore = useRestore();
  const discard = useDiscard();
  const [doomed, setDoomed] = useState<Deletion | null>(null);
  const columns: DataColumn<Deletion>[] = [
    { id: "what", name: t("deletions.what"), cell: (row) => <DeletedItem deletion={row} /> },
    {
      id: "who",
      name: t("deletions.who"),
      isExtra: true,
      cell: (row) => <RowText>{row.deletedBy?.name ?? "–"}</RowText>,
    },
    {
      id: "when",
      name: t("deletions.when"),
      isExtra: true,
      cell: (row) => (
        <RowText>
          <Time at={row.deletedAt} />
        </RowText>
      ),
    },
    {
      id: "until",
      name: t("deletions.keptUntil"),
      isExtra: true,
      cell: (row) => <RowText>{day(row.restorableUntil)}</RowText>,
    },
    {
      id: "restore",
      name: t("deletions.restore"),
      isSlim: true,
      cell: (row) => (
        <span className="flex flex-col items-end gap-1 py-1 sm:flex-row sm:items-center sm:py-0">
          <Button
            className="whitespace-nowrap"
            aria-label={t("deletions.restoreIt", { name: row.name })}
            isPending={restore.isPending && restore.variables.id === row.id}
            onPress={() => restore.mutate(row, { onSuccess: () => place.current?.focus() })}
          >
            {t("deletions.restore")}
          </Button>
          <OverflowMenu
            label={row.name}
            actions={[{ id: "discard", name: t("deletions.discard"), isDanger: true, onAction: () => setDoomed(row) }]}
          />
        </span>
      ),
    },
  ];
  if (found.isPending) return <ListSkeleton />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  return (
    <div ref={place} tabIndex={-1} className="flex flex-col gap-4 outline-none">
      {rows.length === 0 ? (
        <EmptyState hint={t("deletions.noneHint")}>{t("deletions.none")}</EmptyState>
      ) : (
        <>
          <p className="text-soft max-w-prose">{t("deletions.about")}</p>
          <DataTable label={t("deletions.title")} columns={columns} rows={rows} none={null} />
        </>
      )}
      <LoadMore pages={found} className="self-center" />
      {doomed === null ? null : (
        <ConfirmDialog
          title={t("deletions.discardTitle", { name: doomed.name })}
          text={t("deletions.discardText")}
          confirmLabel={t("deletions.discardYes")}
          onConfirm={() => discard.mutate(doomed, { onSuccess: () => place.current?.focus() })}
          onClose={() => setDoomed(null)}
        />
      )}
    </div>
  );
}

/** Kind, name, place and content of a deleted object; on narrow screens with the times. */
function DeletedItem({ deletion }: { deletion: Deletion }) {
  const { t } = useTranslation();
  const { day } = useTime();
  const isWide = useIsWide();
  const { counts } = deletion;
  const inside = [
    ["classes.courses", counts.courses, "COURSE"],
    ["courses.groups", counts.groups, "GROUP"],
    ["courses.topics", counts.assignments, "ASSIGNMENT"],
    ["courses.documents", counts.documents, "DOCUMENT"],
    ["courses.submissions", counts.submissions, ""],
  ] as const;
  const names = inside
    .filter(([, count, own]) => count > 0 && own !== deletion.noun)
    .map(([key, count]) => t(key, { count }));
  const places = [
    t(`deletions.noun.${deletion.noun}`),
    deletion.noun === "CLASS" ? "" : deletion.className,
    deletion.noun === "DOCUMENT" ? (deletion.groupName ?? "") : "",
  ];
  return (
    <span className="block py-2">
      <span className="block font-medium [overflow-wrap:anywhere]">{deletion.name}</span>
      <span className="text-soft block text-sm">{places.filter((place) => place !== "").join(" · ")}</span>
      {names.length > 0 ? <span className="text-soft block text-sm">{names.join(", ")}</span> : null}
      {isWide ? null : (
        <>
          <span className="text-soft block text-sm">
            {deletion.deletedBy?.name ?? "–"}, <Time at={deletion.deletedAt} />
          </span>
          <span className="text-soft block text-sm">
            {t("deletions.keptUntil")} {day(deletion.restorableUntil)}
          </span>
        </>
      )}
    </span>
  );
}
