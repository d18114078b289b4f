import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useTime } from "../../i18n/time";
import { LockBanner } from "../../components/base/LockBanner";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Card } from "../../components/Card";
import { Time } from "../../components/base/Time";
import { Markdown } from "../../components/Markdown";
import { TopicFiles } from "./TopicFiles";
import type { Topic } from "./topicForm";
import { TopicGroups } from "./TopicGroups";
import { groupName, refreshTopics } from "./topic";

/** A finished topic: read-only until it is reopened. */
export function FinishedTopic({ topic }: { topic: Topic }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const cache = useQueryClient();
  const reopen = useMutation({
    mutationFn: () => unwrap(client.POST("/assignments/{id}/reopen", { params: { path: { id: topic.id } } })),
    onSettled: () => refreshTopics(cache),
  });
  const own = topic.isShared ? [] : topic.groupAssignments.filter((one) => one.descriptionOverride);
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
      <Card className="flex flex-col gap-3">
        <h2>{t("topic.text")}</h2>
        <p className="text-soft">
          {t("topic.deadline")}: <Time at={topic.deadline} />
        </p>
        {topic.description.trim() === "" ? (
          <p className="text-soft">{t("topic.noText")}</p>
        ) : (
          <Markdown>{topic.description}</Markdown>
        )}
        {own.map((one) => (
          <div key={one.id} className="border-faint flex flex-col gap-1 border-t pt-3">
            <h3 className="font-semibold">{groupName(one.group)}</h3>
            <Markdown>{one.effectiveDescription}</Markdown>
          </div>
        ))}
      </Card>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <TopicFiles topic={topic} isLocked />
        <TopicGroups topic={topic} isLocked />
      </div>
    </>
  );
}
