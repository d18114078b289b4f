import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { isStaff, requireRole } from "../../auth/session";
import { workRoomQuery } from "../../features/work-room/workRoom";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { useGradingShortcuts } from "../../features/grading/useGradingShortcuts";
import { type Assignment, findNeighbours, topicWorksQuery } from "../../features/grading/work";
import { WorkView } from "../../features/grading/WorkView";

export const Route = createFileRoute("/_school/topics/$topicId/work/$groupId")({
  beforeLoad: requireRole(isStaff),
  validateSearch: (search: Record<string, unknown>): { document?: string } =>
    typeof search.document === "string" ? { document: search.document } : {},
  component: Work,
});

/** View and grade the work of one group, then move to the next without loading in between. */
function Work() {
  const { t } = useTranslation();
  const { topicId } = Route.useParams();
  const found = useQuery(topicWorksQuery(topicId));
  if (found.isPending) return <Skeleton />;
  if (!found.data) {
    return (
      <div className="flex flex-col gap-4">
        <PageHeading title={t("work.title")}>{t("work.title")}</PageHeading>
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      </div>
    );
  }
  return <GroupWorkPage topic={found.data} />;
}

function GroupWorkPage({ topic }: { topic: Assignment }) {
  const { t } = useTranslation();
  const { topicId, groupId } = Route.useParams();
  const { document } = Route.useSearch();
  const { person } = Route.useRouteContext();
  const cache = useQueryClient();
  const navigate = Route.useNavigate();
  const neighbours = findNeighbours(topic, groupId);
  const nextId = neighbours.after?.groupId;
  useEffect(() => {
    // The board focuses this card on return.
    sessionStorage.setItem(`board:${topicId}`, groupId);
    if (nextId) void cache.prefetchQuery({ ...workRoomQuery(nextId), staleTime: 30_000 });
  }, [cache, groupId, nextId, topicId]);
  const go = (to: string | undefined) =>
    to &&
    void navigate({
      to: "/topics/$topicId/work/$groupId",
      params: { topicId, groupId: to },
      search: {},
      replace: true,
    });
  const onBack = () => void navigate({ to: "/topics/$topicId/board", params: { topicId } });
  useGradingShortcuts({ onNext: () => go(nextId), onBefore: () => go(neighbours.before?.groupId), onBack });
  if (neighbours.here === undefined) {
    return (
      <>
        <PageHeading title={topic.title}>{topic.title}</PageHeading>
        <EmptyState
          action={
            <Link to="/topics/$topicId/board" params={{ topicId }}>
              {t("work.board")}
            </Link>
          }
        >
          {t("work.notOnTopic")}
        </EmptyState>
      </>
    );
  }
  return (
    <WorkView
      topic={topic}
      neighbours={{ ...neighbours, here: neighbours.here }}
      person={person}
      open={document}
      onOpen={(id) => void navigate({ search: { document: id }, replace: true })}
    />
  );
}
