import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { type ListedGroup, sortGroups, myGroupsQuery } from "../../features/groups/groups";
import { GroupCard } from "../../features/work-room/GroupCard";
import { EditorPreload } from "../../features/work-room/EditorPreload";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";

export const Route = createFileRoute("/_school/groups/")({ component: Groups });

/** The groups of a student, next deadline first. The API omits groups with a future start date. */
function Groups() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const groups = useQuery(myGroupsQuery);
  const { open, finished } = sortGroups(groups.data ?? []);
  return (
    <div className="flex flex-col gap-4">
      <PageHeading title={t("groups.title")}>{t("groups.title")}</PageHeading>
      {groups.isPending ? <Skeleton /> : null}
      {groups.isError && !groups.data ? (
        <ErrorMessage problem={groups.error} onRetry={() => void groups.refetch()} />
      ) : null}
      {groups.data?.length === 0 ? <EmptyState>{t("groups.none")}</EmptyState> : null}
      <GroupCards groups={open} own={person.id} />
      {finished.length === 0 ? null : (
        <details open={open.length === 0}>
          <summary className="min-h-11 cursor-pointer py-2 font-medium">
            {t("groups.finished", { count: finished.length })}
          </summary>
          <GroupCards groups={finished} own={person.id} />
        </details>
      )}
      <EditorPreload />
    </div>
  );
}

function GroupCards({ groups, own }: { groups: ListedGroup[]; own: string }) {
  if (groups.length === 0) return null;
  return (
    <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {groups.map((group) => (
        <li key={group.id}>
          <GroupCard group={group} own={own} />
        </li>
      ))}
    </ul>
  );
}
