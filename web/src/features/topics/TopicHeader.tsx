import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { buttonClass } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { PageHeading } from "../../components/PageHeading";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { Dialog } from "../../components/Dialog";
import { CloneTopicDialog } from "./CloneTopicDialog";
import type { Topic } from "./topicForm";
import { refreshTopics } from "./topic";

/** Title and location of a topic, and the actions on the whole topic. */
export function TopicHeader({ topic }: { topic: Topic }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"copy" | "delete">();
  return (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
      <div className="min-w-0 grow">
        <nav aria-label={t("divide.where")}>
          {topic.course && topic.courseId !== null ? (
            <Link
              to="/courses/$courseId"
              params={{ courseId: topic.courseId }}
              className="inline-flex min-h-6 items-center"
            >
              {topic.class.name} › {topic.course.name}
            </Link>
          ) : (
            <Link
              to="/classes/$classId"
              params={{ classId: topic.classId }}
              className="inline-flex min-h-6 items-center"
            >
              {topic.class.name}
            </Link>
          )}
        </nav>
        <div className="flex flex-wrap items-center gap-x-3">
          <PageHeading title={topic.title}>{topic.title}</PageHeading>
          {topic.status === "FINISHED" ? <Badge tone="warn">{t("state.FINISHED")}</Badge> : null}
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Link to="/topics/$topicId/board" params={{ topicId: topic.id }} className={buttonClass()}>
          {t("topic.board")}
        </Link>
        <OverflowMenu
          label={topic.title}
          actions={[
            { id: "copy", name: t("topic.copy"), onAction: () => setOpen("copy") },
            { id: "delete", name: t("topic.delete"), isDanger: true, onAction: () => setOpen("delete") },
          ]}
        />
      </div>
      {open === "copy" ? (
        <Dialog title={t("topic.copyTitle")} isOpen onOpenChange={() => setOpen(undefined)}>
          {(close) => <CloneTopicDialog topic={topic} close={close} />}
        </Dialog>
      ) : null}
      {open === "delete" ? <DeleteTopicDialog topic={topic} onClose={() => setOpen(undefined)} /> : null}
    </div>
  );
}

function DeleteTopicDialog({ topic, onClose }: { topic: Topic; onClose: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const path = { id: topic.id };
  const deletedItems = useQuery({
    queryKey: queryKeys.assignments.deletion(topic.id),
    queryFn: () => unwrap(client.DELETE("/assignments/{id}", { params: { path, query: { dryRun: "1" } } })),
    staleTime: 0,
    gcTime: 0,
  });
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/assignments/{id}", { params: { path, query: {} } })),
    onSuccess: async () => {
      toast(t("topic.deleted", { title: topic.title }));
      if (topic.courseId === null) await navigate({ to: "/courses", ignoreBlocker: true });
      else await navigate({ to: "/courses/$courseId", params: { courseId: topic.courseId }, ignoreBlocker: true });
      await refreshTopics(cache);
    },
    onError: (problem) => toast(errorText(problem)),
  });
  const texts = topic.groupAssignments.filter((own) => own.descriptionOverride).length;
  const counts = [
    ["topic.deleteSubmissions", deletedItems.data?.deletedSubmissions ?? 0],
    ["topic.deleteFiles", topic.attachments.length],
    ["topic.deleteTexts", texts],
  ] as const;
  const names = [
    t("topic.deleteTask"),
    ...counts.filter(([, count]) => count > 0).map(([key, count]) => t(key, { count })),
  ];
  return (
    <ConfirmDialog
      title={t("topic.deleteTitle", { title: topic.title })}
      text={
        <>
          <p>{t("topic.deleteGoes")}</p>
          <ul aria-busy={deletedItems.isPending} className="list-disc ps-5">
            {names.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <p>{t("topic.deleteStays")}</p>
        </>
      }
      confirmLabel={t("topic.deleteYes")}
      requiredText={topic.title}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
