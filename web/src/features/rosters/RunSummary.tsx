import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Badge } from "../../components/base/Badge";
import { ConfirmButton } from "../../components/base/ConfirmButton";
import { Time } from "../../components/base/Time";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { useErrorText } from "../../i18n/useErrorText";
import { RunDifference } from "./RunDifference";
import { type RosterRun, type RosterSource, useRoster } from "./useRosters";

const TONES = {
  QUEUED: "plain",
  RUNNING: "plain",
  WAITING: "warn",
  DONE: "good",
  FAILED: "bad",
  DISCARDED: "plain",
  INTERRUPTED: "bad",
} as const;

/** State and numbers of a run, the question whether it may go on, and its difference. */
export function RunSummary({ source, run }: { source: RosterSource; run: RosterRun }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const { confirm, discard } = useRoster(source.id);
  const [isShown, setShown] = useState(false);
  const onError = (refused: unknown) => toast(errorText(refused));
  const { counts } = run;
  const isWaiting = run.state === "WAITING";
  return (
    <div className="bg-faint flex flex-col gap-2 rounded p-3 text-sm">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={TONES[run.state]}>{t(`rosters.states.${run.state}`)}</Badge>
        <span>{t(`rosters.kinds.${run.kind}`)}</span>
        <span className="text-soft">
          <Time at={run.finishedAt ?? run.startedAt ?? run.createdAt} />
          {run.startedBy === null ? null : ` · ${run.startedBy.name}`}
        </span>
      </p>
      {run.error === null ? null : <p className="text-bad">{run.error}</p>}
      {run.difference === null ? null : (
        <p>
          {t("rosters.people", {
            created: counts.created,
            invited: counts.invited,
            updated: counts.updated,
            left: counts.left,
            unchanged: counts.unchanged,
          })}
          <br />
          {t("rosters.classes", {
            created: counts.classesCreated,
            updated: counts.classesUpdated,
            left: counts.classesLeft,
            begun: counts.enrollmentsCreated,
            ended: counts.enrollmentsLeft,
          })}
          {counts.errors + counts.omitted > 0 ? (
            <>
              <br />
              {t("rosters.errors", { errors: counts.errors, omitted: counts.omitted })}
            </>
          ) : null}
        </p>
      )}
      {run.difference === null && run.state === "DONE" ? <p>{t("rosters.same")}</p> : null}
      {isWaiting ? <p className="font-medium">{t("rosters.waiting", { left: counts.left })}</p> : null}
      <p className="flex flex-wrap gap-2">
        {isWaiting ? (
          <>
            <ConfirmButton
              kind="danger"
              open={t("rosters.confirm")}
              isPending={confirm.isPending}
              title={t("rosters.confirmTitle", { left: counts.left })}
              text={t("rosters.confirmText")}
              confirmLabel={t("rosters.confirmYes")}
              onConfirm={() => confirm.mutate(run, { onError })}
            />
            <Button isPending={discard.isPending} onPress={() => discard.mutate(run, { onError })}>
              {t("rosters.discard")}
            </Button>
          </>
        ) : null}
        {run.difference === null ? null : (
          <Button aria-haspopup="dialog" onPress={() => setShown(true)}>
            {t("rosters.show")}
          </Button>
        )}
      </p>
      {isShown ? <RunDifference source={source} run={run} onClose={() => setShown(false)} /> : null}
    </div>
  );
}
