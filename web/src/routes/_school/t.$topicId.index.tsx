import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isStaff, requireRole } from "../../auth/session";
import { EditTopic } from "../../features/topics/EditTopic";
import { FinishedTopic } from "../../features/topics/FinishedTopic";
import { TopicHeader } from "../../features/topics/TopicHeader";
import { isFullTopic, topicQuery } from "../../features/topics/topic";
import { Empty } from "../../ui/Empty";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";

export const Route = createFileRoute("/_school/t/$topicId/")({ beforeLoad: requireRole(isStaff), component: TopicPage });

/** S6: a topic: its texts, files, groups and deadline. */
function TopicPage() {
  const { t } = useTranslation();
  const { topicId } = Route.useParams();
  const { person } = Route.useRouteContext();
  const found = useQuery(topicQuery(topicId));
  if (found.isPending) return <Shape />;
  if (!found.data) {
    return (
      <div className="flex flex-col gap-4">
        <Heading title={t("topic.one")}>{t("topic.one")}</Heading>
        <Problems problem={found.error} again={() => void found.refetch()} />
      </div>
    );
  }
  if (!isFullTopic(found.data)) {
    return (
      <div className="flex flex-col gap-4">
        <Heading title={found.data.title}>{found.data.title}</Heading>
        <Empty>{t("topic.notYours")}</Empty>
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-4" key={topicId}>
      <TopicHeader topic={found.data} />
      {found.data.status === "FINISHED" ? <FinishedTopic topic={found.data} /> : <EditTopic topic={found.data} person={person.id} />}
    </div>
  );
}
