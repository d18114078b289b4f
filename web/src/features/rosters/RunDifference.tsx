import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { LoadMore } from "../../components/LoadMore";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Segmented } from "../../components/Segmented";
import { type RosterEffect, rosterEntriesQuery, type RosterRun, type RosterSource } from "./useRosters";

const EFFECTS: RosterEffect[] = ["LEAVES", "JOINS", "INVITED", "CHANGES", "REJECTED"];

/** Who joins, changes and leaves in a run. */
export function RunDifference({ source, run, onClose }: { source: RosterSource; run: RosterRun; onClose: () => void }) {
  const { t } = useTranslation();
  const [effect, setEffect] = useState<RosterEffect>(run.counts.left > 0 ? "LEAVES" : "JOINS");
  const found = useInfiniteQuery(rosterEntriesQuery(source.id, run, effect));
  const list = found.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Dialog title={t("rosters.difference")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {() => (
        <>
          <Segmented
            label={t("rosters.difference")}
            options={EFFECTS.map((id) => ({ id, name: t(`rosters.effects.${id}`) }))}
            value={effect}
            onChange={setEffect}
          />
          {found.isPending ? <ListSkeleton count={3} /> : null}
          {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
          {found.data && list.length === 0 ? <p className="text-soft">{t("rosters.nothing")}</p> : null}
          <ul aria-label={t(`rosters.effects.${effect}`)} className="divide-faint divide-y">
            {list.map((entry) => (
              <li key={`${entry.object}${entry.externalId}${entry.name}`} className="py-2">
                <p className="wrap-anywhere">
                  <span className="font-medium">{entry.name}</span>{" "}
                  <span className="text-soft text-sm">
                    {t(`rosters.objects.${entry.object}`)} · {entry.externalId}
                  </span>
                </p>
                {entry.problem === null ? null : <p className="text-soft text-sm wrap-anywhere">{entry.problem}</p>}
              </li>
            ))}
          </ul>
          <LoadMore pages={found} className="self-start" />
        </>
      )}
    </Dialog>
  );
}
