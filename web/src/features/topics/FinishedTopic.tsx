import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useTime } from "../../i18n/time";
import { LockBanner } from "../../components/base/LockBanner";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { refreshTopics } from "./topic";
import type { Topic } from "./topicForm";
import { TopicOverview } from "./TopicOverview";

/** A finished topic: read-only until it is reopened. */
export function FinishedTopic({ topic }: { topic: Topic }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const cache = useQueryClient();
  const reopen = useMutation({
    mutationFn: () => unwrap(client.POST("/assignments/{id}/reopen", { params: { path: { id: topic.id } } })),
    onSettled: () => refreshTopics(cache),
  });
  return (
    <>
      <LockBanner
        action={
          <Button isPending={reopen.isPending} onPress={() => reopen.mutate()}>
            {t("board.reopen")}
          </Button>
        }
      >
        {topic.finishedAt === null ? t("state.FINISHED") : t("topic.finishedAt", { when: moment(topic.finishedAt) })}{" "}
        {t("topic.finished")}
      </LockBanner>
      {reopen.isError ? <ErrorMessage problem={reopen.error} /> : null}
      <TopicOverview topic={topic} isLocked />
    </>
  );
}
