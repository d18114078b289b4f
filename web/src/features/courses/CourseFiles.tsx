import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Download, X } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useFormatBytes } from "../../i18n/bytes";
import { keepFocusNear } from "../../hooks/keepFocusNear";
import type { ListedAssignment, ListedGroup } from "../groups/groups";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { type Upload, upload } from "../../api/upload";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/base/EmptyState";
import { toast } from "../../components/base/toast";
import { FileButton } from "../../forms/FileButton";
import { Card } from "../../components/Card";
import { numberedName } from "../lesson/groupNames";

interface CourseFile {
  id: string;
  fileName: string;
  size: number;
  url: string;
}

/** The object a file is attached to. */
interface Owner {
  kind: "assignments" | "groups";
  id: string;
}

/** Files of a course: topic files for all groups, topic files for one group, and files of single groups. */
export function CourseFiles({
  topics,
  groups,
  canChange,
}: {
  topics: readonly ListedAssignment[];
  groups: readonly ListedGroup[];
  canChange: boolean;
}) {
  const { t } = useTranslation();
  const own = groups.filter((group) => group.attachments.length > 0);
  if (topics.length === 0 && own.length === 0) return <EmptyState>{t("courses.noFiles")}</EmptyState>;
  const ownerLabel = (topic: ListedAssignment, id: string | null) =>
    topic.groupAssignments.find((one) => one.id === id)?.group;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      {topics.map((topic) => {
        const isOpen = canChange && topic.status === "ACTIVE";
        return (
          <Card key={topic.id} className="flex flex-col gap-3">
            <h2>
              <Link to="/topics/$topicId" params={{ topicId: topic.id }}>
                {topic.title}
              </Link>
            </h2>
            {topic.attachments.length === 0 ? <p className="text-soft">{t("courses.noFilesHere")}</p> : null}
            <FileList
              owner={{ kind: "assignments", id: topic.id }}
              canDelete={isOpen}
              files={topic.attachments.map((file) => {
                const group = ownerLabel(topic, file.groupAssignmentId);
                return {
                  ...file,
                  note: group ? t("courses.onlyFor", { group: numberedName(group) }) : t("courses.forAll"),
                };
              })}
            />
            {isOpen ? <AddFile owner={{ kind: "assignments", id: topic.id }} name={topic.title} /> : null}
          </Card>
        );
      })}
      {own.map((group) => (
        <Card key={group.id} className="flex flex-col gap-3">
          <h2>
            <Link to="/groups/$groupId" params={{ groupId: group.id }}>
              {numberedName(group)}
            </Link>
          </h2>
          <FileList owner={{ kind: "groups", id: group.id }} files={group.attachments} canDelete={canChange} />
          {canChange ? <AddFile owner={{ kind: "groups", id: group.id }} name={numberedName(group)} /> : null}
        </Card>
      ))}
    </div>
  );
}

/** Files to download, and to delete where permitted. */
export function FileList({
  owner,
  files,
  canDelete,
}: {
  owner: Owner;
  files: readonly (CourseFile & { note?: string })[];
  canDelete: boolean;
}) {
  const size = useFormatBytes();
  if (files.length === 0) return null;
  return (
    <ul className="flex flex-col">
      {files.map((file) => (
        <li key={file.id} className="flex items-center gap-2">
          <a href={file.url} download className="flex min-h-11 min-w-0 grow items-center gap-2 py-1">
            <Download aria-hidden="true" className="size-4 shrink-0" />
            <span className="min-w-0 wrap-anywhere">
              {file.fileName}{" "}
              <span className="text-soft text-sm">{[size(file.size), file.note].filter(Boolean).join(" · ")}</span>
            </span>
          </a>
          {canDelete ? <DeleteFile owner={owner} file={file} /> : null}
        </li>
      ))}
    </ul>
  );
}

function DeleteFile({ owner, file }: { owner: Owner; file: CourseFile }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const here = useRef<HTMLSpanElement>(null);
  const [isAsked, setIsAsked] = useState(false);
  const remove = useMutation({
    mutationFn: (): Promise<unknown> => {
      const path = { id: owner.id, attachmentId: file.id };
      return owner.kind === "groups"
        ? client.DELETE("/groups/{id}/attachments/{attachmentId}", { params: { path } })
        : client.DELETE("/assignments/{id}/attachments/{attachmentId}", { params: { path } });
    },
    onMutate: () => keepFocusNear(here.current),
    onSuccess: async (_done, _nothing, focus) => {
      toast(t("courses.fileDeleted", { name: file.fileName }));
      await refreshFiles(cache);
      focus();
    },
    onError: (problem) => toast(errorText(problem)),
  });
  return (
    <span ref={here}>
      <Button
        kind="quiet"
        className="px-0"
        aria-label={t("courses.deleteFile", { name: file.fileName })}
        isPending={remove.isPending}
        onPress={() => setIsAsked(true)}
      >
        <X aria-hidden="true" className="size-5" />
      </Button>
      {isAsked ? (
        <ConfirmDialog
          title={t("courses.deleteFileTitle", { name: file.fileName })}
          text={t("courses.deleteFileText")}
          confirmLabel={t("courses.deleteFileYes")}
          onConfirm={() => remove.mutate()}
          onClose={() => setIsAsked(false)}
        />
      ) : null}
    </span>
  );
}

/** Uploads a file to a topic or a group, shows the progress, and can be cancelled. */
export function AddFile({ owner, name }: { owner: Owner; name: string }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [sent, setSent] = useState(0);
  const running = useRef<Upload<unknown>>(undefined);
  const send = useMutation({
    mutationFn: (file: File) => {
      const form = new FormData();
      form.append("file", file);
      setSent(0);
      running.current = upload(`/${owner.kind}/${owner.id}/attachments`, form, setSent);
      return running.current.done;
    },
    onSuccess: (_answer, file) => toast(t("courses.fileThere", { name: file.name })),
    onSettled: () => refreshFiles(cache),
  });
  const isStopped = send.error !== null && "code" in send.error && send.error.code === "CANCELLED";
  return (
    <div className="-ms-2 flex flex-wrap items-center gap-2">
      <FileButton
        kind="quiet"
        label={t("courses.addFileTo", { name })}
        isPending={send.isPending}
        onFiles={([file]) => file && send.mutate(file)}
      >
        {t("courses.addFile")}
      </FileButton>
      {send.isPending ? (
        <>
          <progress value={sent} max={1} aria-label={t("courses.sending")} className="h-2 w-24" />
          <Button kind="quiet" onPress={() => running.current?.cancel()}>
            {t("ask.cancel")}
          </Button>
        </>
      ) : null}
      {send.isError && !isStopped ? (
        <p role="alert" className="text-bad text-sm">
          {errorText(send.error)}
        </p>
      ) : null}
    </div>
  );
}

const refreshFiles = (cache: ReturnType<typeof useQueryClient>) => invalidate(cache, "groups", "assignments", "room");
