import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { type Group, inOrder, myGroups, nearest } from "../../lib/groups";
import { Chip } from "../../ui/Chip";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";
import { Sheet } from "../../ui/Sheet";
import { TimeLeft } from "../../ui/TimeLeft";

export const Route = createFileRoute("/_school/groups")({ component: Groups });

/** S10: the groups of a student, what ends next first. */
function Groups() {
  const { t } = useTranslation();
  const groups = useQuery(myGroups);
  const { open, finished } = inOrder(groups.data ?? []);
  return (
    <div className="flex flex-col gap-4">
      <Heading title={t("groups.title")}>{t("groups.title")}</Heading>
      {groups.isPending ? <Shape /> : null}
      {groups.isError ? <Problems problem={groups.error} again={() => void groups.refetch()} /> : null}
      {groups.data?.length === 0 ? <p>{t("groups.none")}</p> : null}
      <Cards groups={open} />
      {finished.length === 0 ? null : (
        <details>
          <summary className="min-h-11 cursor-pointer py-2 font-medium">{t("groups.finished")}</summary>
          <Cards groups={finished} />
        </details>
      )}
    </div>
  );
}

function Cards({ groups }: { groups: Group[] }) {
  return (
    <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {groups.map((group) => (
        <li key={group.id}>
          <Card group={group} />
        </li>
      ))}
    </ul>
  );
}

function Card({ group }: { group: Group }) {
  const { t } = useTranslation();
  const own = nearest(group);
  const isFinished = own?.assignment.status === "FINISHED";
  return (
    <Sheet className="relative flex h-full flex-col gap-2">
      <p className="text-soft text-sm">{[group.class.name, group.subject?.name].filter(Boolean).join(" › ")}</p>
      <h2>
        {/* The whole card is the link; its name is the topic. */}
        <Link to="/g/$groupId" params={{ groupId: group.id }} className="after:absolute after:inset-0">
          {own?.assignment.title ?? t("groups.noTopic")}
        </Link>
      </h2>
      <p>
        {group.displayName ?? group.name} · {t("groups.members", { count: group.members.length })}
      </p>
      <p className="mt-auto flex flex-wrap items-center gap-2">
        {own ? <Chip tone={own.status === "SUBMITTED" || own.status === "GRADED" ? "good" : "plain"}>{t(`state.${isFinished ? "FINISHED" : own.status}`)}</Chip> : null}
        {own && !isFinished ? <TimeLeft until={own.assignment.deadline} /> : null}
        {group.unreadMessages ? <Chip tone="warn">{t("groups.unread", { count: group.unreadMessages })}</Chip> : null}
      </p>
    </Sheet>
  );
}
