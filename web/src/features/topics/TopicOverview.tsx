import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useNow } from "../../hooks/serverClock";
import { useTime } from "../../i18n/time";
import { Card } from "../../components/Card";
import { Markdown, picturesOf } from "../../components/Markdown";
import { TimeLeft } from "../../components/base/TimeLeft";
import { Time } from "../../components/base/Time";
import { Select } from "../../forms/Select";
import { TopicRubricCard } from "../rubrics/TopicRubricCard";
import { groupName } from "./topic";
import { TopicFiles } from "./TopicFiles";
import type { Topic } from "./topicForm";
import { TopicGroups } from "./TopicGroups";

const ALL = "all";

/** A topic to read: the task as students see it, its files, its rules and its groups. */
export function TopicOverview({ topic, isLocked }: { topic: Topic; isLocked: boolean }) {
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_minmax(20rem,32.5rem)]">
      <Card className="flex min-w-0 flex-col gap-6">
        <TaskText topic={topic} />
        <TopicFiles topic={topic} isLocked={isLocked} />
      </Card>
      <div className="flex min-w-0 flex-col gap-5">
        <TopicFacts topic={topic} />
        <TopicRubricCard topicId={topic.id} />
        <TopicGroups topic={topic} isLocked={isLocked} />
      </div>
    </div>
  );
}

/** The text for all groups, or the one that a group reads. */
function TaskText({ topic }: { topic: Topic }) {
  const { t } = useTranslation();
  const [reader, setReader] = useState(ALL);
  const own = topic.isShared ? [] : topic.groupAssignments.filter((one) => one.descriptionOverride);
  const shown = own.find((one) => one.groupId === reader);
  const text = shown?.effectiveDescription ?? topic.description;
  const files = shown?.effectiveAttachments ?? topic.attachments.filter((file) => file.groupAssignmentId === null);
  return (
    <section aria-labelledby="task" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 id="task" className="me-auto">
          {t("topic.text")}
        </h2>
        {own.length === 0 ? null : (
          <span className="text-soft text-sm">
            <Select
              label={t("topic.readAs")}
              isLabelHidden
              options={[
                { id: ALL, name: t("topic.readAsAll") },
                ...own.map((one) => ({
                  id: one.groupId,
                  name: t("topic.readAsGroup", { name: groupName(one.group) }),
                })),
              ]}
              value={reader}
              onChange={setReader}
            />
          </span>
        )}
      </div>
      <div className="max-w-prose">
        {text.trim() === "" ? (
          <p className="text-soft">{t("topic.noText")}</p>
        ) : (
          <Markdown pictures={picturesOf(files)}>{text}</Markdown>
        )}
      </div>
    </section>
  );
}

/** Time and rules of a topic. */
function TopicFacts({ topic }: { topic: Topic }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const now = useNow(30_000);
  const isOver = topic.status === "FINISHED";
  const extended = topic.groupAssignments.filter((own) => own.lateAllowedUntil !== null);
  const due = isOver && topic.finishedAt !== null ? topic.finishedAt : topic.deadline;
  const grade = [
    topic.maxPoints === null ? "" : t("topic.upTo", { count: topic.maxPoints }),
    topic.gradeScale ?? "",
  ].filter(Boolean);
  return (
    <Card className="flex flex-col">
      <p className="text-lg font-semibold">{isOver ? t("state.FINISHED") : <TimeLeft until={topic.deadline} />}</p>
      <p className="text-soft">
        {t(isOver ? "topic.finishedOn" : Date.parse(topic.deadline) < now ? "topic.wasDue" : "topic.due")}{" "}
        <Time at={due} />
        {extended.length === 0
          ? null
          : `. ${t("topic.extended", {
              count: extended.length,
              name: extended[0] ? groupName(extended[0].group) : "",
              when: moment(extended[0]?.lateAllowedUntil ?? topic.deadline),
            })}`}
      </p>
      <dl className="divide-faint border-faint mt-3 divide-y border-t [&>div]:flex [&>div]:min-h-10 [&>div]:items-center [&>div]:gap-4 [&_dd]:ms-auto [&_dd]:text-end [&_dt]:text-soft">
        {topic.workingTime === null ? null : (
          <div>
            <dt>{t("activity.field.workingTime")}</dt>
            <dd>{topic.workingTime}</dd>
          </div>
        )}
        <div>
          <dt>{t("topic.handsIn")}</dt>
          <dd>{t("topic.documents", { count: topic.requiredSubmissions })}</dd>
        </div>
        <div>
          <dt>{t("topic.late")}</dt>
          <dd>{t(topic.latePolicy === "ALLOW" ? "topic.lateAllow" : "topic.lateBlock")}</dd>
        </div>
        <div>
          <dt>{t("topic.grade")}</dt>
          <dd>{grade.length === 0 ? t("topic.gradeFree") : grade.join(" · ")}</dd>
        </div>
      </dl>
    </Card>
  );
}
