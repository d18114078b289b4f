import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useFormatBytes } from "../../i18n/bytes";
import { keepFocusNear } from "../../hooks/keepFocusNear";
import { useErrorText } from "../../i18n/useErrorText";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { Badge } from "../../components/base/Badge";
import { Select } from "../../forms/Select";
import { FileDropZone } from "../../forms/FileDropZone";
import { type MenuAction, OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import type { Topic } from "./topicForm";
import { TopicUploads } from "./TopicUploads";
import { useAttachmentUploads } from "./useAttachmentUploads";
import { type TopicAttachment, groupName, refreshTopics } from "./topic";

const ALL = "all";

/** Files of a topic, for all groups or for one. */
export function TopicFiles({ topic, isLocked }: { topic: Topic; isLocked: boolean }) {
  const { t } = useTranslation();
  const [target, setTarget] = useState(ALL);
  const { sendings: uploads, send, cancel } = useAttachmentUploads();
  const own = topic.groupAssignments.find((one) => one.groupId === target);
  const shared = topic.attachments.filter((file) => file.groupAssignmentId === null);
  const lists = [
    { id: ALL, name: t("topic.filesForAll"), files: shared },
    ...topic.groupAssignments.map((one) => ({
      id: one.groupId,
      name: t("topic.filesFor", { name: groupName(one.group) }),
      files: topic.attachments.filter((file) => file.groupAssignmentId === one.id),
    })),
  ].filter((list) => list.files.length > 0);
  return (
    <section aria-labelledby="files" className="flex flex-col gap-3">
      <h2 id="files">{t("topic.files")}</h2>
      {lists.length === 0 ? <p className="text-soft">{t("topic.noFiles")}</p> : null}
      {lists.map((list) => (
        <div key={list.id} className="flex flex-col gap-1">
          <h3 className="text-soft text-sm font-medium">{list.name}</h3>
          <ul className="divide-faint border-faint divide-y border-y">
            {list.files.map((file) => (
              <FileRow key={file.id} topic={topic} file={file} isLocked={isLocked} />
            ))}
          </ul>
        </div>
      ))}
      {isLocked ? null : (
        <>
          <TopicUploads uploads={uploads} onCancel={cancel} />
          {topic.isShared ? null : (
            <div className="max-w-sm">
              <Select
                label={t("topic.fileGoal")}
                value={target}
                onChange={setTarget}
                options={[
                  { id: ALL, name: t("topic.allGroups") },
                  ...topic.groupAssignments.map((one) => ({ id: one.groupId, name: groupName(one.group) })),
                ]}
              />
            </div>
          )}
          <FileDropZone
            label={t("topic.addFiles")}
            hint={t("topic.dropHint")}
            isMany
            onFiles={(files) => void send(topic.id, files, own?.id ?? null)}
          />
        </>
      )}
    </section>
  );
}

function FileRow({ topic, file, isLocked }: { topic: Topic; file: TopicAttachment; isLocked: boolean }) {
  const { t } = useTranslation();
  const size = useFormatBytes();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const row = useRef<HTMLLIElement>(null);
  const [isConfirming, setConfirming] = useState(false);
  const remove = useMutation({
    mutationFn: () =>
      unwrap(
        client.DELETE("/assignments/{id}/attachments/{attachmentId}", {
          params: { path: { id: topic.id, attachmentId: file.id } },
        }),
      ),
    onMutate: () => keepFocusNear(row.current),
    onSuccess: async (_done, _nothing, focus) => {
      toast(t("topic.fileGone", { name: file.fileName }));
      await refreshTopics(cache);
      requestAnimationFrame(focus);
    },
    onError: (problem) => toast(errorText(problem)),
  });
  const copyToGroups = useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/assignments/{id}/handouts", {
          params: { path: { id: topic.id } },
          body: { templateAttachmentId: file.id },
        }),
      ),
    onSuccess: ({ documents, had, full }) =>
      toast(
        [
          t("topic.handedOut", { count: documents.length }),
          had.length > 0 ? t("topic.had", { count: had.length }) : "",
          full.length > 0 ? t("topic.full", { count: full.length }) : "",
        ]
          .filter(Boolean)
          .join(" "),
      ),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => refreshTopics(cache),
  });
  const actions: MenuAction[] = [
    ...(file.groupAssignmentId === null && topic.groupAssignments.length > 0
      ? [{ id: "hand", name: t("topic.handOut"), onAction: () => copyToGroups.mutate() }]
      : []),
    { id: "remove", name: t("topic.removeFile"), isDanger: true, onAction: () => setConfirming(true) },
  ];
  return (
    <li ref={row} className="flex flex-wrap items-center gap-x-3">
      <a href={file.url} download className="text-ink inline-flex min-h-11 min-w-0 grow items-center gap-2.5">
        <FileText aria-hidden="true" className="text-soft size-4.5 shrink-0" />
        <span className="break-all">{file.fileName}</span>
      </a>
      {file.isEffective === false ? <Badge tone="warn">{t("topic.notShown")}</Badge> : null}
      <span className="text-soft text-sm">{size(file.size)}</span>
      {isLocked ? null : (
        <span className="reveal">
          <OverflowMenu
            label={file.fileName}
            actions={actions}
            isPending={remove.isPending || copyToGroups.isPending}
          />
        </span>
      )}
      {isConfirming ? (
        <ConfirmDialog
          title={t("topic.removeFileTitle", { name: file.fileName })}
          text={t("topic.removeFileText")}
          confirmLabel={t("topic.removeFile")}
          onConfirm={() => remove.mutate()}
          onClose={() => setConfirming(false)}
        />
      ) : null}
    </li>
  );
}
