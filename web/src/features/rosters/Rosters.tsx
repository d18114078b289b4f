import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Badge } from "../../components/base/Badge";
import { ConfirmButton } from "../../components/base/ConfirmButton";
import { Time } from "../../components/base/Time";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { SettingsList } from "../../components/SettingsList";
import { useErrorText } from "../../i18n/useErrorText";
import { RosterDialog } from "./RosterDialog";
import { RosterHistory } from "./RosterHistory";
import { RunSummary } from "./RunSummary";
import { isOpen, rosterRunsQuery, type RosterSource, rostersQuery, useRoster } from "./useRosters";

/** The roster sources of the school, each with its latest run. */
export function Rosters() {
  const { t } = useTranslation();
  return (
    <SettingsList
      title={t("rosters.title")}
      text={t("rosters.text")}
      found={useQuery(rostersQuery)}
      none={t("rosters.none")}
      add={t("rosters.add")}
      row={(source, onEdit) => <Source source={source} onEdit={onEdit} />}
      dialog={(source, onClose) => <RosterDialog source={source} onClose={onClose} />}
    />
  );
}

function Source({ source, onEdit }: { source: RosterSource; onEdit: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const { id, name } = source;
  const { test, remove, start } = useRoster(id);
  const runs = useInfiniteQuery(rosterRunsQuery(id));
  const [isShowingHistory, setShowingHistory] = useState(false);
  const latest = runs.data?.pages[0]?.data[0];
  const onError = (refused: unknown) => toast(errorText(refused));
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <strong className="font-medium wrap-anywhere">{name}</strong>
        <span className="text-soft text-sm">{t(`rosters.protocols.${source.protocol}`)}</span>
        {source.isNightly ? null : <Badge>{t("rosters.notNightly")}</Badge>}
      </p>
      <p className="text-soft text-sm wrap-anywhere">
        {source.url}
        {source.nextRunAt === null ? null : (
          <>
            {" · "}
            {t("rosters.next")} <Time at={source.nextRunAt} />
          </>
        )}
      </p>
      {latest ? <RunSummary source={source} run={latest} /> : null}
      {test.isError ? (
        <p role="alert" className="text-bad">
          {errorText(test.error)}
        </p>
      ) : null}
      <p className="flex flex-wrap gap-2">
        <Button
          isPending={start.isPending}
          isDisabled={isOpen(latest)}
          onPress={() => start.mutate(false, { onError })}
          aria-label={t("rosters.runOf", { name })}
        >
          {t("rosters.run")}
        </Button>
        <Button
          isDisabled={isOpen(latest) || start.isPending}
          onPress={() => start.mutate(true, { onError })}
          aria-label={t("rosters.dryRunOf", { name })}
        >
          {t("rosters.dryRun")}
        </Button>
        <Button
          isPending={test.isPending}
          onPress={() =>
            test.mutate(undefined, {
              onSuccess: ({ people, classes }) => toast(t("rosters.works", { people, classes })),
            })
          }
          aria-label={t("rosters.testOf", { name })}
        >
          {t("rosters.test")}
        </Button>
        <Button
          aria-haspopup="dialog"
          onPress={() => setShowingHistory(true)}
          aria-label={t("rosters.historyOf", { name })}
        >
          {t("rosters.history")}
        </Button>
        <Button aria-haspopup="dialog" onPress={onEdit} aria-label={t("rosters.editOf", { name })}>
          {t("rosters.edit")}
        </Button>
        <ConfirmButton
          open={t("rosters.remove")}
          title={t("rosters.removeTitle", { name })}
          text={t("rosters.removeText")}
          confirmLabel={t("rosters.removeYes")}
          onConfirm={() => remove.mutate(undefined, { onError })}
        />
      </p>
      {isShowingHistory ? <RosterHistory source={source} onClose={() => setShowingHistory(false)} /> : null}
    </>
  );
}
