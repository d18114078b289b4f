import { useInfiniteQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { LoadMore } from "../../components/LoadMore";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { RunSummary } from "./RunSummary";
import { rosterRunsQuery, type RosterSource } from "./useRosters";

/** The runs of a source, newest first. */
export function RosterHistory({ source, onClose }: { source: RosterSource; onClose: () => void }) {
  const { t } = useTranslation();
  const found = useInfiniteQuery(rosterRunsQuery(source.id));
  const list = found.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Dialog
      title={t("rosters.historyTitle", { name: source.name })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {() => (
        <>
          {found.isPending ? <ListSkeleton count={3} /> : null}
          {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
          {found.data && list.length === 0 ? <p className="text-soft">{t("rosters.noRuns")}</p> : null}
          <ul aria-label={t("rosters.history")} className="flex flex-col gap-2">
            {list.map((run) => (
              <li key={run.id}>
                <RunSummary source={source} run={run} />
              </li>
            ))}
          </ul>
          <LoadMore pages={found} className="self-start" />
        </>
      )}
    </Dialog>
  );
}
