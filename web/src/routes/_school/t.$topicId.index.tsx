import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isStaff, only } from "../../lib/session";
import { Edit } from "../../topic/Edit";
import { Finished } from "../../topic/Finished";
import { Head } from "../../topic/Head";
import { isMine, topic } from "../../topic/topic";
import { Empty } from "../../ui/Empty";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";

export const Route = createFileRoute("/_school/t/$topicId/")({ beforeLoad: only(isStaff), component: EditTopic });

/** S6: a topic: its texts, files, groups and deadline. */
function EditTopic() {
  const { t } = useTranslation();
  const { topicId } = Route.useParams();
  const { person } = Route.useRouteContext();
  const found = useQuery(topic(topicId));
  if (found.isPending) return <Shape />;
  if (!found.data) {
    return (
      <div className="flex flex-col gap-4">
        <Heading title={t("topic.one")}>{t("topic.one")}</Heading>
        <Problems problem={found.error} again={() => void found.refetch()} />
      </div>
    );
  }
  if (!isMine(found.data)) {
    return (
      <div className="flex flex-col gap-4">
        <Heading title={found.data.title}>{found.data.title}</Heading>
        <Empty>{t("topic.notYours")}</Empty>
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-4" key={topicId}>
      <Head of={found.data} />
      {found.data.status === "FINISHED" ? <Finished of={found.data} /> : <Edit of={found.data} person={person.id} />}
    </div>
  );
}
