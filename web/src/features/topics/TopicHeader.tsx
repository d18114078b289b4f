import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Pencil } from "lucide-react";
import { Suspense, useState } from "react";
import { useTranslation } from "react-i18next";

import { RestorableNote } from "../deletions/RestorableNote";
import { useUndo } from "../deletions/deletions";
import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { useNow } from "../../hooks/serverClock";
import { Button, buttonClass } from "../../components/Button";
import { lazyPart } from "../../components/lazyPart";
import { StateChip } from "../../components/base/StateChip";
import { PageHeader } from "../../components/PageHeader";
import { Breadcrumbs } from "../courses/Breadcrumbs";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { PublicationChip } from "../lesson/PublicationChip";
import { publicationState } from "../lesson/publication";
import type { Topic } from "./topicForm";
import { refreshTopics } from "./topic";

const CopyDialog = lazyPart(async () => (await import("../copies/CopyDialog")).CopyDialog);

/** Title and location of a topic, and the actions on the whole topic. */
export function TopicHeader({ topic, isEditing }: { topic: Topic; isEditing: boolean }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"copy" | "delete">();
  const now = useNow(30_000);
  const isUnpublished = topic.status !== "FINISHED" && publicationState(topic, now) !== "published";
  return (
    <>
      <PageHeader
        title={topic.title}
        breadcrumbs={
          <Breadcrumbs
            steps={[
              { name: topic.class.name, link: { to: "/classes/$classId", params: { classId: topic.classId } } },
              ...(topic.course && topic.courseId !== null
                ? [
                    {
                      name: topic.course.name,
                      link: { to: "/courses/$courseId", params: { courseId: topic.courseId } } as const,
                    },
                  ]
                : []),
            ]}
          />
        }
        chip={
          topic.status === "FINISHED" ? (
            <StateChip state="finished">{t("state.FINISHED")}</StateChip>
          ) : isUnpublished ? (
            <PublicationChip topic={topic} />
          ) : (
            <StateChip state="running">{t("courses.running")}</StateChip>
          )
        }
      >
        {isEditing ? null : (
          <>
            <OverflowMenu
              label={topic.title}
              actions={[
                { id: "copy", name: t("copies.open"), onAction: () => setOpen("copy") },
                { id: "delete", name: t("topic.delete"), isDanger: true, onAction: () => setOpen("delete") },
              ]}
            />
            {topic.status === "FINISHED" ? null : (
              <Link
                to="/topics/$topicId"
                params={{ topicId: topic.id }}
                search={{ edit: true }}
                className={buttonClass()}
              >
                <Pencil aria-hidden="true" className="size-4.5" />
                {t("topic.edit")}
              </Link>
            )}
            <Link
              to="/topics/$topicId/board"
              params={{ topicId: topic.id }}
              className={buttonClass(isUnpublished ? undefined : "main")}
            >
              {t("topic.board")}
            </Link>
            {isUnpublished ? <PublishButton topic={topic} /> : null}
          </>
        )}
      </PageHeader>
      {open === "copy" ? (
        <Suspense>
          <CopyDialog
            source={{ kind: "topics", topics: [topic], classId: topic.classId, courseId: topic.courseId }}
            onClose={() => setOpen(undefined)}
          />
        </Suspense>
      ) : null}
      {open === "delete" ? <DeleteTopicDialog topic={topic} onClose={() => setOpen(undefined)} /> : null}
    </>
  );
}

/** Publishes a draft or a scheduled topic at once. */
function PublishButton({ topic }: { topic: Topic }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const publish = useMutation({
    mutationFn: () =>
      unwrap(
        client.PATCH("/assignments/{id}", {
          params: { path: { id: topic.id } },
          body: { isDraft: false, publishAt: null },
        }),
      ),
    onSuccess: () => toast(t("topic.published")),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => refreshTopics(cache),
  });
  return (
    <Button kind="main" isPending={publish.isPending} onPress={() => publish.mutate()}>
      {t("topic.publishNow")}
    </Button>
  );
}

function DeleteTopicDialog({ topic, onClose }: { topic: Topic; onClose: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const undo = useUndo();
  const path = { id: topic.id };
  const deletedItems = useQuery({
    queryKey: queryKeys.assignments.deletion(topic.id),
    queryFn: () => unwrap(client.DELETE("/assignments/{id}", { params: { path, query: { dryRun: "1" } } })),
    staleTime: 0,
    gcTime: 0,
  });
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/assignments/{id}", { params: { path, query: {} } })),
    onSuccess: async (deleted) => {
      toast(t("topic.deleted", { title: topic.title }), undo(deleted, topic.title));
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
          {deletedItems.data ? <RestorableNote until={deletedItems.data.restorableUntil} /> : null}
        </>
      }
      confirmLabel={t("topic.deleteYes")}
      requiredText={topic.title}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
