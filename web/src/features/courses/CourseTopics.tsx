import { Link } from "@tanstack/react-router";
import { Copy } from "lucide-react";
import { Suspense, useState } from "react";
import { useTranslation } from "react-i18next";

import { useNow } from "../../hooks/serverClock";
import type { ListedAssignment, ListedGroup } from "../groups/groups";
import { useTime } from "../../i18n/time";
import { Button, buttonClass } from "../../components/Button";
import { lazyPart } from "../../components/lazyPart";
import { StateChip } from "../../components/base/StateChip";
import { EmptyState } from "../../components/base/EmptyState";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { TimeLeft } from "../../components/base/TimeLeft";
import { PublicationChip } from "../lesson/PublicationChip";
import { publicationState } from "../lesson/publication";
import { type TopicProgress, progressOf, countWaiting } from "./progress";

const CopyDialog = lazyPart(async () => (await import("../copies/CopyDialog")).CopyDialog);

/** The topics of a course with progress, help requests and links. */
export function CourseTopics({
  topics,
  groups,
  canAdd,
  newTopicLink,
}: {
  topics: readonly ListedAssignment[];
  groups: readonly ListedGroup[];
  canAdd: boolean;
  newTopicLink: React.ReactNode;
}) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState<readonly ListedAssignment[]>();
  if (topics.length === 0)
    return <EmptyState action={canAdd ? newTopicLink : undefined}>{t("courses.noTopics")}</EmptyState>;
  return (
    <>
      <ul className="bg-sheet border-faint divide-faint divide-y rounded-xl border shadow-xs">
        {sortTopics(topics).map((topic) => (
          <TopicRow
            key={topic.id}
            topic={topic}
            waiting={countWaiting(topic.id, groups)}
            onCopy={() => setCopied([topic])}
          />
        ))}
      </ul>
      {topics.length > 1 ? (
        <Button kind="quiet" className="self-start" onPress={() => setCopied(sortTopics(topics))}>
          <Copy aria-hidden="true" className="size-4" />
          {t("copies.openTopics")}
        </Button>
      ) : null}
      {copied ? (
        <Suspense>
          <CopyDialog
            source={{
              kind: "topics",
              topics: copied,
              classId: copied[0]?.classId ?? "",
              courseId: copied[0]?.courseId ?? null,
            }}
            onClose={() => setCopied(undefined)}
          />
        </Suspense>
      ) : null}
    </>
  );
}

/** Sorts active topics by deadline, then finished ones, latest first. */
function sortTopics(topics: readonly ListedAssignment[]): ListedAssignment[] {
  const isOver = (topic: ListedAssignment) => Number(topic.status === "FINISHED");
  return topics.toSorted(
    (one, other) => isOver(one) - isOver(other) || (isOver(one) ? -1 : 1) * one.deadline.localeCompare(other.deadline),
  );
}

function TopicRow({ topic, waiting, onCopy }: { topic: ListedAssignment; waiting: number; onCopy: () => void }) {
  const { t } = useTranslation();
  const progress = progressOf(topic);
  return (
    <li className="flex items-start gap-2 py-2 ps-4 pe-1">
      <div className="grid min-w-0 grow items-center gap-x-4 gap-y-1 py-1 md:grid-cols-[minmax(0,2fr)_minmax(0,1.4fr)_auto]">
        <div className="flex min-w-0 flex-col">
          <Link
            to="/topics/$topicId"
            params={{ topicId: topic.id }}
            className="text-ink py-1 font-medium wrap-break-word"
          >
            {topic.title}
          </Link>
          <Deadline topic={topic} />
        </div>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <TopicStatus topic={topic} />
          <ProgressCount progress={progress} />
          {waiting > 0 ? <StateChip state="help">{t("courses.waiting", { count: waiting })}</StateChip> : null}
        </div>
        <div className="flex flex-wrap gap-2">
          <Link
            to="/topics/$topicId/board"
            params={{ topicId: topic.id }}
            aria-label={t("courses.boardOf", { title: topic.title })}
            className={buttonClass()}
          >
            {t("courses.board")}
          </Link>
          {progress.handedIn > 0 || topic.status === "FINISHED" ? (
            <Link
              to="/submissions"
              search={{ assignmentId: topic.id }}
              aria-label={t("courses.resultsOf", { title: topic.title })}
              className={buttonClass()}
            >
              {t("courses.results")}
            </Link>
          ) : null}
        </div>
      </div>
      <OverflowMenu label={topic.title} actions={[{ id: "copy", name: t("copies.open"), onAction: onCopy }]} />
    </li>
  );
}

function Deadline({ topic }: { topic: ListedAssignment }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const at = useNow();
  const when = moment(topic.deadline);
  const isPast = Date.parse(topic.deadline) < at;
  return (
    <span className="text-soft text-sm">
      {isPast ? t("courses.ended", { when }) : t("courses.ends", { when })}
      {!isPast && topic.status === "ACTIVE" ? (
        <>
          {" · "}
          <TimeLeft until={topic.deadline} />
        </>
      ) : null}
    </span>
  );
}

function TopicStatus({ topic }: { topic: ListedAssignment }) {
  const { t } = useTranslation();
  const now = useNow(30_000);
  return topic.status === "FINISHED" ? (
    <StateChip state="finished">{t("courses.finished")}</StateChip>
  ) : publicationState(topic, now) !== "published" ? (
    <PublicationChip topic={topic} />
  ) : (
    <StateChip state="running">{t("courses.running")}</StateChip>
  );
}

function ProgressCount({ progress }: { progress: TopicProgress }) {
  const { t } = useTranslation();
  if (progress.groups === 0) return <span>{t("courses.noGroupsYet")}</span>;
  return (
    <span>
      {t("courses.submitted", { done: progress.handedIn, count: progress.groups })}
      {progress.graded > 0 ? `, ${t("courses.graded", { count: progress.graded })}` : ""}
    </span>
  );
}
