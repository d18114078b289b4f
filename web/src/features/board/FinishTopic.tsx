import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { meQuery } from "../../auth/session";
import { useTime } from "../../i18n/time";
import { prefetchWhenIdle } from "../../hooks/prefetchWhenIdle";
import { loadTexts } from "../../i18n";
import { LockBanner } from "../../components/base/LockBanner";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { lazyPart } from "../../components/lazyPart";
import type { Board } from "./board";

const load = async () => {
  const [{ FinishTopicDialog: dialog }] = await Promise.all([import("./FinishTopicDialog"), loadTexts("finish")]);
  return dialog;
};
const FinishDialog = lazyPart(load);

/** Finishes a topic; the only action of the board that asks for confirmation. */
export function FinishTopicButton({ board }: { board: Board }) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => prefetchWhenIdle(load), []);
  return (
    <>
      <Button aria-haspopup="dialog" onPress={() => setOpen(true)}>
        {t("board.finish")}
      </Button>
      {isOpen ? (
        <Suspense>
          <FinishDialog board={board} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}

/** Shown above a finished topic: who finished it and when, and the button that reopens it. */
export function FinishedTopicBanner({ board }: { board: Board }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const { moment } = useTime();
  const cache = useQueryClient();
  const { id, finishedAt, finishedById } = board.assignment;
  const { data: person } = useQuery(meQuery);
  const isOwn = finishedById === person?.id;
  const by = useQuery({ ...finisherQuery(id), enabled: finishedById !== null && !isOwn }).data;
  const reopen = useMutation({
    mutationFn: () => unwrap(client.POST("/assignments/{id}/reopen", { params: { path: { id } } })),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => cache.invalidateQueries(),
  });
  const when = finishedAt === null ? "" : moment(finishedAt);
  return (
    <LockBanner
      action={
        <Button onPress={() => reopen.mutate()} isPending={reopen.isPending}>
          {t("board.reopen")}
        </Button>
      }
    >
      {isOwn
        ? t("board.finishedYou", { when })
        : by
          ? t("board.finishedBy", { when, name: by })
          : t("board.finished", { when })}{" "}
      {t("board.finishedMeans")}
    </LockBanner>
  );
}

/** Fetches the name of the user who finished a topic from the activity log. */
const finisherQuery = (id: string) => ({
  queryKey: queryKeys.activity.finisher(id),
  queryFn: async () =>
    (
      await unwrap(
        client.GET("/activity-logs", { params: { query: { assignmentId: id, action: "FINISH", limit: 1 } } }),
      )
    ).data[0]?.userName ?? null,
});
