import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { now } from "../../lib/clock";
import { type Assignment, assignments, lesson } from "../../lib/groups";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";
import { Sheet } from "../../ui/Sheet";
import { TimeLeft } from "../../ui/TimeLeft";

export const Route = createFileRoute("/_school/today")({ component: Today });

/** S2: where a teacher's day begins. */
function Today() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const topics = useQuery(assignments);
  const { running, next, toGrade } = lesson(topics.data ?? [], now());
  const hour = new Date(now()).getHours();
  const greeting = hour < 11 ? t("today.morning", { name: person.name }) : hour < 18 ? t("today.day", { name: person.name }) : t("today.evening", { name: person.name });
  return (
    <div className="flex flex-col gap-6">
      <Heading title={t("nav.today")}>{greeting}</Heading>
      {topics.isPending ? <Shape count={2} /> : null}
      {topics.isError ? <Problems problem={topics.error} again={() => void topics.refetch()} /> : null}
      {topics.data?.length === 0 ? <p>{t("today.none")}</p> : null}
      {topics.data?.length ? (
        <>
          <Part title={t("today.running")} none={t("today.quiet")} topics={running} />
          {next.length === 0 ? null : <Part title={t("today.next")} none="" topics={next} />}
          <Part title={t("today.toGrade")} none={t("today.graded")} topics={toGrade} />
        </>
      ) : null}
    </div>
  );
}

function Part({ title, none, topics }: { title: string; none: string; topics: Assignment[] }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2>{title}</h2>
      {topics.length === 0 ? <p className="text-soft">{none}</p> : null}
      <ul className="flex flex-col gap-2">
        {topics.map((topic) => (
          <li key={topic.id}>
            <Topic topic={topic} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Topic({ topic }: { topic: Assignment }): ReactNode {
  const { t, i18n } = useTranslation();
  const { person } = Route.useRouteContext();
  const zone = person.timezone ?? undefined;
  const when = new Intl.DateTimeFormat(i18n.language, { dateStyle: "medium", timeStyle: "short", timeZone: zone }).format(new Date(topic.deadline));
  const done = (topic.stats?.submitted ?? 0) + (topic.stats?.graded ?? 0);
  return (
    <Sheet className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
      <h3 className="font-semibold">
        <Link to="/t/$topicId/board" params={{ topicId: topic.id }}>
          {topic.title}
        </Link>
      </h3>
      <span className="text-soft">{topic.class.name}</span>
      <span>{t("today.ends", { when })}</span>
      {topic.status === "ACTIVE" ? <TimeLeft until={topic.deadline} /> : null}
      <span>{t("today.submitted", { done, count: topic.stats?.groups ?? topic.groupAssignments.length })}</span>
    </Sheet>
  );
}
