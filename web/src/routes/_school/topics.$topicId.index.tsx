import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isStaff } from "../../auth/session";
import { EditTopic } from "../../features/topics/EditTopic";
import { FinishedTopic } from "../../features/topics/FinishedTopic";
import { redirectToOwnGroup } from "../../features/topics/ownGroup";
import { TopicOverview } from "../../features/topics/TopicOverview";
import { TopicHeader } from "../../features/topics/TopicHeader";
import { isFullTopic, topicQuery } from "../../features/topics/topic";
import { EmptyState } from "../../components/base/EmptyState";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";

export const Route = createFileRoute("/_school/topics/$topicId/")({
  // Students follow links to their side of the topic.
  beforeLoad: async ({ context, params }) => {
    if (!isStaff(context.person)) await redirectToOwnGroup(context.cache, params.topicId);
  },
  validateSearch: (search: Record<string, unknown>): { edit?: true } => (search.edit === true ? { edit: true } : {}),
  component: TopicPage,
});

/** A topic: its texts, files, groups and deadline. */
function TopicPage() {
  const { t } = useTranslation();
  const { topicId } = Route.useParams();
  const { edit = false } = Route.useSearch();
  const { person } = Route.useRouteContext();
  const found = useQuery(topicQuery(topicId));
  if (found.isPending) return <Skeleton />;
  if (!found.data) {
    return (
      <div className="flex flex-col gap-4">
        <PageHeading title={t("topic.one")}>{t("topic.one")}</PageHeading>
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      </div>
    );
  }
  if (!isFullTopic(found.data)) {
    return (
      <div className="flex flex-col gap-4">
        <PageHeading title={found.data.title}>{found.data.title}</PageHeading>
        <EmptyState>{t("topic.notYours")}</EmptyState>
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-4" key={topicId}>
      <TopicHeader topic={found.data} isEditing={edit && found.data.status !== "FINISHED"} />
      {found.data.status === "FINISHED" ? (
        <FinishedTopic topic={found.data} />
      ) : edit ? (
        <EditTopic topic={found.data} person={person.id} />
      ) : (
        <TopicOverview topic={found.data} isLocked={false} />
      )}
    </div>
  );
}
