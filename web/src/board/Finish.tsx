import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { useSay } from "../lib/problems";
import { queryKeys } from "../lib/queryKeys";
import { me } from "../lib/session";
import { useTime } from "../lib/time";
import { Ask } from "../ui/Ask";
import { Bar } from "../ui/Bar";
import { Button } from "../ui/Button";
import { note } from "../ui/notes";
import type { Board } from "./board";

/** Finishing a topic, the one thing on the board that is asked twice. */
export function Finish({ found }: { found: Board }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const path = { id: found.assignment.id };
  const finish = useMutation({
    mutationFn: () => data(client.POST("/assignments/{id}/finish", { params: { path } })),
    onSuccess: ({ unsavedDocuments }) => unsavedDocuments.length > 0 && note(t("board.unsaved", { count: unsavedDocuments.length })),
    onError: (problem) => note(say(problem)),
    onSettled: () => cache.invalidateQueries(),
  });
  const documents = found.groups.reduce((sum, card) => sum + card.documents.length, 0);
  return (
    <Ask
      open={t("board.finish")}
      title={t("board.finishTitle")}
      text={t("board.finishText", { documents: t("board.documents", { count: documents }), groups: t("board.groupCount", { count: found.groups.length }) })}
      yes={t("board.finishYes")}
      isPending={finish.isPending}
      onYes={() => finish.mutate()}
    />
  );
}

/** Over a finished topic: who finished it, when, and the way back. */
export function Finished({ found }: { found: Board }) {
  const { t } = useTranslation();
  const say = useSay();
  const { moment } = useTime();
  const cache = useQueryClient();
  const { id, finishedAt, finishedById } = found.assignment;
  const { data: person } = useQuery(me);
  const isOwn = finishedById === person?.id;
  const by = useQuery({ ...finisher(id), enabled: finishedById !== null && !isOwn }).data;
  const reopen = useMutation({
    mutationFn: () => data(client.POST("/assignments/{id}/reopen", { params: { path: { id } } })),
    onError: (problem) => note(say(problem)),
    onSettled: () => cache.invalidateQueries(),
  });
  const when = finishedAt === null ? "" : moment(finishedAt);
  return (
    <Bar
      action={
        <Button onPress={() => reopen.mutate()} isPending={reopen.isPending}>
          {t("board.reopen")}
        </Button>
      }
    >
      {isOwn ? t("board.finishedYou", { when }) : by ? t("board.finishedBy", { when, name: by }) : t("board.finished", { when })} {t("board.finishedMeans")}
    </Bar>
  );
}

/** The name of who finished a topic: the log knows. */
const finisher = (id: string) => ({
  queryKey: queryKeys.activity.finisher(id),
  queryFn: async () => (await data(client.GET("/activity-logs", { params: { query: { assignmentId: id, action: "FINISH", limit: 1 } } }))).data[0]?.userName ?? null,
});
