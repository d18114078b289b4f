import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { Button } from "../ui/Button";
import { Ask } from "../ui/Ask";
import { Problems } from "../ui/Problems";
import type { Board } from "./board";

/** Finishing a topic, the one thing on the board that is asked twice; and the way back. */
export function Finish({ found }: { found: Board }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const path = { id: found.assignment.id };
  const done = () => cache.invalidateQueries();
  const finish = useMutation({ mutationFn: () => data(client.POST("/assignments/{id}/finish", { params: { path } })), onSettled: done });
  const reopen = useMutation({ mutationFn: () => data(client.POST("/assignments/{id}/reopen", { params: { path } })), onSettled: done });
  const documents = found.groups.reduce((sum, card) => sum + card.documents.length, 0);
  if (found.assignment.status === "FINISHED") {
    return (
      <>
        <Button onPress={() => reopen.mutate()} isPending={reopen.isPending}>
          {t("board.reopen")}
        </Button>
        {finish.data?.unsavedDocuments.length ? <p role="alert">{t("board.unsaved", { count: finish.data.unsavedDocuments.length })}</p> : null}
        {reopen.isError ? <Problems problem={reopen.error} /> : null}
      </>
    );
  }
  return (
    <>
      <Ask
        open={t("board.finish")}
        title={t("board.finishTitle")}
        text={t("board.finishText", { documents, groups: found.groups.length })}
        yes={t("board.finishYes")}
        isPending={finish.isPending}
        onYes={() => finish.mutate()}
      />
      {finish.isError ? <Problems problem={finish.error} /> : null}
    </>
  );
}
