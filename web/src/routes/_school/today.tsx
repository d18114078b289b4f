import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { StateChip } from "../../components/base/StateChip";
import { useNow } from "../../hooks/serverClock";
import { type ListedAssignment, assignmentsQuery } from "../../features/groups/groups";
import { isStaff, requireRole } from "../../auth/session";
import { useSchoolZone, useTime } from "../../i18n/time";
import { sortIntoDay, longestWaitingSince, ungradedGroups, helpCountsQuery } from "../../features/today/topicsOfTheDay";
import { NextLesson, CurrentLesson } from "../../features/today/Lesson";
import { PublicationChip } from "../../features/lesson/PublicationChip";
import { buttonClass } from "../../components/Button";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Card } from "../../components/Card";
import { TimeLeft } from "../../components/base/TimeLeft";
import { Time } from "../../components/base/Time";

export const Route = createFileRoute("/_school/today")({ beforeLoad: requireRole(isStaff), component: Today });

/** Start page of teachers: current topics, upcoming topics, works to grade. */
function Today() {
  const { t } = useTranslation();
  const topics = useQuery(assignmentsQuery);
  return (
    <div className="flex flex-col gap-6">
      <Greeting />
      {topics.isPending ? <Skeleton count={3} /> : null}
      {topics.isError && !topics.data ? (
        <ErrorMessage problem={topics.error} onRetry={() => void topics.refetch()} />
      ) : null}
      {topics.data?.length === 0 ? (
        <EmptyState
          action={
            <Link to="/courses" className={buttonClass("main")}>
              {t("today.start")}
            </Link>
          }
        >
          {t("today.none")}
        </EmptyState>
      ) : null}
      {topics.data?.length ? <DaySections topics={topics.data} /> : null}
    </div>
  );
}

/** Greeting with name, date, time and time zone. */
function Greeting() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const { zone, language } = useTime();
  const at = new Date(useNow(10_000));
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { timeZone: zone, ...options }).format(at);
  const hour = Number(
    new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "numeric", hourCycle: "h23" }).format(at),
  );
  const { name } = person;
  const greeting =
    hour < 11 ? t("today.morning", { name }) : hour < 18 ? t("today.day", { name }) : t("today.evening", { name });
  return (
    <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
      <PageHeading title={t("nav.today")}>{greeting}</PageHeading>
      <p className="text-soft">
        {format({ weekday: "long", day: "numeric", month: "long" })}, {format({ timeStyle: "short" })} ({zone})
      </p>
    </div>
  );
}

function DaySections({ topics }: { topics: readonly ListedAssignment[] }) {
  const { t } = useTranslation();
  const day = sortIntoDay(topics, useSchoolZone(), useNow(60_000));
  const help = useQuery(helpCountsQuery).data;
  return (
    <>
      <DaySection title={t("today.running")} none={t("today.quiet")}>
        {day.running.map((topic) => (
          <RunningTopic key={topic.id} topic={topic} calls={help?.get(topic.id) ?? 0} />
        ))}
      </DaySection>
      <DaySection title={t("today.toGrade")} none={t("today.graded")}>
        {day.toGrade.map((topic) => (
          <UngradedTopic key={topic.id} topic={topic} />
        ))}
      </DaySection>
      {day.overdue.length === 0 ? null : (
        <DaySection title={t("today.overdue")} none="">
          {day.overdue.map((topic) => (
            <PlainTopic key={topic.id} topic={topic} />
          ))}
        </DaySection>
      )}
      {day.next.length === 0 ? null : (
        <DaySection title={t("today.next")} none="">
          {day.next.map((topic) => (
            <PlainTopic key={topic.id} topic={topic} />
          ))}
        </DaySection>
      )}
    </>
  );
}

function DaySection({ title, none, children }: { title: string; none: string; children: ReactNode[] }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2>{title}</h2>
      {children.length === 0 ? (
        <p className="text-soft">{none}</p>
      ) : (
        <ul className="flex flex-col gap-2">{children}</ul>
      )}
    </section>
  );
}

/** A row of a section: description on the left, action on the right. */
function TopicItem({ topic, facts, action }: { topic: ListedAssignment; facts: ReactNode; action: ReactNode }) {
  return (
    <li>
      <Card className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <div className="flex min-w-[min(16rem,100%)] flex-1 flex-col gap-1">
          <h3 className="font-semibold break-words">
            {topic.title} <span className="text-soft font-normal">· {topic.class.name}</span>
          </h3>
          <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm">{facts}</p>
        </div>
        {action}
      </Card>
    </li>
  );
}

const groupsOf = (topic: ListedAssignment): number => topic.stats?.groups ?? topic.groupAssignments.length;
const doneOf = (topic: ListedAssignment): number => (topic.stats?.submitted ?? 0) + (topic.stats?.graded ?? 0);

function RunningTopic({ topic, calls }: { topic: ListedAssignment; calls: number }) {
  const { t } = useTranslation();
  return (
    <TopicItem
      topic={topic}
      facts={
        <>
          <CurrentLesson schedule={topic.class.schedule} />
          <strong>
            <TimeLeft until={topic.deadline} />
          </strong>
          <EndTime topic={topic} />
          <span>{t("today.submitted", { done: doneOf(topic), count: groupsOf(topic) })}</span>
          {calls === 0 ? null : <StateChip state="help">{t("today.calls", { count: calls })}</StateChip>}
        </>
      }
      action={
        <Link
          to="/topics/$topicId/board"
          params={{ topicId: topic.id }}
          aria-label={t("today.boardOf", { title: topic.title })}
          className={buttonClass("main")}
        >
          {t("today.board")}
        </Link>
      }
    />
  );
}

function UngradedTopic({ topic }: { topic: ListedAssignment }) {
  const { t } = useTranslation();
  const groups = ungradedGroups(topic);
  const first = groups[0];
  const oldest = longestWaitingSince(topic);
  return (
    <TopicItem
      topic={topic}
      facts={
        <>
          <strong>{t("today.works", { count: groups.length })}</strong>
          <span>{groups.map((own) => own.group.displayName ?? own.group.name).join(", ")}</span>
          {oldest === undefined ? null : (
            <span className="text-soft">
              {t("today.since")} <Time at={oldest} />
            </span>
          )}
        </>
      }
      action={
        first ? (
          <Link
            to="/topics/$topicId/work/$groupId"
            params={{ topicId: topic.id, groupId: first.groupId }}
            aria-label={t("today.gradeOf", { title: topic.title })}
            className={buttonClass()}
          >
            {t("today.grade")}
          </Link>
        ) : null
      }
    />
  );
}

function PlainTopic({ topic }: { topic: ListedAssignment }) {
  const { t } = useTranslation();
  const isOver = Date.parse(topic.deadline) < useNow(60_000);
  return (
    <TopicItem
      topic={topic}
      facts={
        <>
          <PublicationChip topic={topic} />
          <NextLesson schedule={topic.class.schedule} />
          <EndTime topic={topic} />
          <span>
            {isOver
              ? t("today.submitted", { done: doneOf(topic), count: groupsOf(topic) })
              : t("today.groups", { count: groupsOf(topic) })}
          </span>
        </>
      }
      action={
        <span className="flex flex-wrap gap-2">
          {isOver ? null : (
            <Link
              to="/topics/$topicId"
              params={{ topicId: topic.id }}
              aria-label={t("today.prepareOf", { title: topic.title })}
              className={buttonClass()}
            >
              {t("today.prepare")}
            </Link>
          )}
          <Link
            to="/topics/$topicId/board"
            params={{ topicId: topic.id }}
            aria-label={t("today.boardOf", { title: topic.title })}
            className={buttonClass("quiet")}
          >
            {t("today.board")}
          </Link>
        </span>
      }
    />
  );
}

function EndTime({ topic }: { topic: ListedAssignment }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  return (
    <span>
      {t(Date.parse(topic.deadline) < useNow(60_000) ? "today.ended" : "today.ends", { when: moment(topic.deadline) })}
    </span>
  );
}
