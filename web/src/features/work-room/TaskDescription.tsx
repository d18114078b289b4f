import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { TimeLeft } from "../../components/base/TimeLeft";
import { Time } from "../../components/base/Time";
import { Markdown, picturesOf } from "../../components/Markdown";
import { TopicCriteria } from "../rubrics/TopicCriteria";
import { FileLinks } from "./FileLinks";
import { type Group, type GroupTopic, topicDetailQuery } from "./workRoom";

/** The task of the group: text, files, number of documents, deadline. */
export function TaskDescription({ topic, group }: { topic: GroupTopic | undefined; group: Group | null | undefined }) {
  const { t } = useTranslation();
  return (
    <div className="flex max-w-prose flex-col gap-4">
      <h2 className="sr-only">{t("room.place.task")}</h2>
      {topic === undefined ? <p>{t("room.none")}</p> : <TaskText topic={topic} />}
      {topic === undefined ? null : <TopicCriteria topicId={topic.assignmentId} />}
      {topic && topic.effectiveAttachments.length > 0 ? (
        <section aria-label={t("room.files")}>
          <h3 className="font-semibold">{t("room.files")}</h3>
          <FileLinks files={topic.effectiveAttachments} />
        </section>
      ) : null}
      {group && group.attachments.length > 0 ? (
        <section aria-label={t("room.groupFiles")}>
          <h3 className="font-semibold">{t("room.groupFiles")}</h3>
          <FileLinks files={group.attachments} />
        </section>
      ) : null}
    </div>
  );
}

function TaskText({ topic }: { topic: GroupTopic }) {
  const { t } = useTranslation();
  const { data } = useQuery(topicDetailQuery(topic.assignmentId));
  const isDone = topic.assignment.status === "FINISHED" || topic.status === "SUBMITTED" || topic.status === "GRADED";
  return (
    <>
      <p className="text-soft flex flex-wrap gap-x-2">
        <span>
          {t("groups.ends")} <Time at={topic.assignment.deadline} />
        </span>
        {isDone ? null : (
          <span>
            · <TimeLeft until={topic.assignment.deadline} />
          </span>
        )}
        {topic.lateAllowedUntil === null ? null : (
          <span>
            · {t("room.extended")} <Time at={topic.lateAllowedUntil} />
          </span>
        )}
        {data ? <span>· {t("room.required", { count: data.requiredSubmissions })}</span> : null}
        {data?.workingTime ? <span>· {t("room.workingTime", { time: data.workingTime })}</span> : null}
      </p>
      {topic.effectiveDescription.trim() === "" ? (
        <p className="text-soft">{t("room.noText")}</p>
      ) : (
        <Markdown pictures={picturesOf(topic.effectiveAttachments)}>{topic.effectiveDescription}</Markdown>
      )}
    </>
  );
}
