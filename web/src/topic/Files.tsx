import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { useBytes } from "../lib/bytes";
import { neighbour } from "../lib/focus";
import { useSay } from "../lib/problems";
import { Asked } from "../ui/Ask";
import { Chip } from "../ui/Chip";
import { Choice } from "../ui/Choice";
import { Drop } from "../ui/Drop";
import { type Deed, More } from "../ui/More";
import { note } from "../ui/notes";
import { Sheet } from "../ui/Sheet";
import type { Topic } from "./form";
import { OnTheWay } from "./OnTheWay";
import { useSending } from "./sending";
import { type Attachment, groupName, refresh } from "./topic";

const ALL = "all";

/** The files of a topic: for all groups, or for one. */
export function Files({ of, isLocked }: { of: Topic; isLocked: boolean }) {
  const { t } = useTranslation();
  const [goal, setGoal] = useState(ALL);
  const { sendings, send, cancel } = useSending();
  const own = of.groupAssignments.find((one) => one.groupId === goal);
  const shared = of.attachments.filter((file) => file.groupAssignmentId === null);
  const lists = [
    { id: ALL, name: t("topic.filesForAll"), files: shared },
    ...of.groupAssignments.map((one) => ({ id: one.groupId, name: t("topic.filesFor", { name: groupName(one.group) }), files: of.attachments.filter((file) => file.groupAssignmentId === one.id) })),
  ].filter((list) => list.files.length > 0);
  return (
    <section aria-labelledby="files">
      <Sheet className="flex flex-col gap-3">
        <h2 id="files">{t("topic.files")}</h2>
        {lists.length === 0 ? <p className="text-soft">{t("topic.noFiles")}</p> : null}
        {lists.map((list) => (
          <div key={list.id} className="flex flex-col gap-1">
            <h3 className="text-soft text-sm font-medium">{list.name}</h3>
            <ul className="flex flex-col gap-1">
              {list.files.map((file) => (
                <File key={file.id} of={of} file={file} isLocked={isLocked} />
              ))}
            </ul>
          </div>
        ))}
        {isLocked ? null : (
          <>
            <OnTheWay sendings={sendings} onCancel={cancel} />
            {of.isShared ? null : (
              <div className="max-w-sm">
                <Choice label={t("topic.fileGoal")} value={goal} onChange={setGoal} options={[{ id: ALL, name: t("topic.allGroups") }, ...of.groupAssignments.map((one) => ({ id: one.groupId, name: groupName(one.group) }))]} />
              </div>
            )}
            <Drop label={t("topic.addFiles")} hint={t("topic.dropHint")} isMany onFiles={(files) => void send(of.id, files, own?.id ?? null)} />
          </>
        )}
      </Sheet>
    </section>
  );
}

function File({ of, file, isLocked }: { of: Topic; file: Attachment; isLocked: boolean }) {
  const { t } = useTranslation();
  const size = useBytes();
  const say = useSay();
  const cache = useQueryClient();
  const line = useRef<HTMLLIElement>(null);
  const [isAsked, setAsked] = useState(false);
  const remove = useMutation({
    mutationFn: () => data(client.DELETE("/assignments/{id}/attachments/{attachmentId}", { params: { path: { id: of.id, attachmentId: file.id } } })),
    onSuccess: async () => {
      const focus = neighbour(line.current);
      note(t("topic.fileGone", { name: file.fileName }));
      await refresh(cache);
      requestAnimationFrame(focus);
    },
    onError: (problem) => note(say(problem)),
  });
  const handOut = useMutation({
    mutationFn: () => data(client.POST("/assignments/{id}/handouts", { params: { path: { id: of.id } }, body: { templateAttachmentId: file.id } })),
    onSuccess: ({ documents, had, full }) =>
      note([t("topic.handedOut", { count: documents.length }), had.length > 0 ? t("topic.had", { count: had.length }) : "", full.length > 0 ? t("topic.full", { count: full.length }) : ""].filter(Boolean).join(" ")),
    onError: (problem) => note(say(problem)),
    onSettled: () => refresh(cache),
  });
  const deeds: Deed[] = [
    ...(file.groupAssignmentId === null && of.groupAssignments.length > 0 ? [{ id: "hand", name: t("topic.handOut"), onAction: () => handOut.mutate() }] : []),
    { id: "remove", name: t("topic.removeFile"), isDanger: true, onAction: () => setAsked(true) },
  ];
  return (
    <li ref={line} className={`border-faint flex flex-wrap items-center gap-x-3 rounded-lg border ps-3 ${isLocked ? "pe-3" : ""}`}>
      <a href={file.url} download className="inline-flex min-h-11 min-w-0 grow items-center gap-2">
        <FileText aria-hidden="true" className="size-4 shrink-0" />
        <span className="break-all">{file.fileName}</span>
      </a>
      {file.isEffective === false ? <Chip tone="warn">{t("topic.notShown")}</Chip> : null}
      <span className="text-soft text-sm">{size(file.size)}</span>
      {isLocked ? null : <More label={file.fileName} deeds={deeds} isPending={remove.isPending || handOut.isPending} />}
      {isAsked ? <Asked title={t("topic.removeFileTitle", { name: file.fileName })} text={t("topic.removeFileText")} yes={t("topic.removeFile")} onYes={() => remove.mutate()} onClose={() => setAsked(false)} /> : null}
    </li>
  );
}
