import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileTrigger, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { Button } from "../ui/Button";
import { Chip } from "../ui/Chip";
import { Problems } from "../ui/Problems";
import { type Document, documentsOf, type Topic, type WorkRoom } from "./room";

const KINDS = ["word", "cell", "slide"] as const;

/** The documents of a topic, and how new ones come. */
export function Documents({ found, topic }: { found: WorkRoom; topic: Topic | undefined }) {
  const { t } = useTranslation();
  const documents = documentsOf(found, topic);
  const add = useNew(found, topic);
  const isOpen = topic?.assignment.status !== "FINISHED";
  return (
    <section aria-label={t("room.documents")} className="flex flex-col gap-3">
      {documents.length === 0 ? <p className="text-soft">{t("room.noDocuments")}</p> : null}
      <ul className="flex flex-col gap-2">
        {documents.map((document) => (
          <li key={document.id}>
            <Line document={document} groupId={found.groupId} />
          </li>
        ))}
      </ul>
      {add.problem ? <Problems problem={add.problem} /> : null}
      {isOpen ? (
        <p className="flex flex-wrap gap-2">
          <MenuTrigger>
            <Button isPending={add.isPending}>{t("room.new")}</Button>
            <Popover className="bg-sheet border-line rounded-lg border p-1 shadow-lg">
              <Menu className="outline-none" onAction={(kind) => add.create(kind as (typeof KINDS)[number])}>
                {KINDS.map((kind) => (
                  <MenuItem key={kind} id={kind} className="focus:bg-faint flex min-h-11 cursor-pointer items-center rounded px-3 outline-none">
                    {t(`room.kind.${kind}`)}
                  </MenuItem>
                ))}
              </Menu>
            </Popover>
          </MenuTrigger>
          <FileTrigger onSelect={(files) => files?.[0] && add.upload(files[0])}>
            <Button isPending={add.isPending}>{t("room.upload")}</Button>
          </FileTrigger>
        </p>
      ) : null}
    </section>
  );
}

function Line({ document, groupId }: { document: Document; groupId: string }) {
  const { t } = useTranslation();
  const tones = { DRAFT: "plain", SUBMITTED: "good", LOCKED: "warn" } as const;
  return (
    <Link
      to="/g/$groupId/d/$documentId"
      params={{ groupId, documentId: document.id }}
      className="bg-sheet border-faint flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border px-3 py-2"
    >
      <span className="font-medium">
        {document.title}.{document.fileExtension}
      </span>
      <Chip tone={tones[document.status]}>{t(`room.state.${document.status}`)}</Chip>
      {document.lastEditedByUser ? <span className="text-soft text-sm">{document.lastEditedByUser.name}</span> : null}
    </Link>
  );
}

function useNew(found: WorkRoom, topic: Topic | undefined) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const path = { id: found.id };
  const assignmentId = topic?.assignment.status === "ACTIVE" ? topic.assignmentId : undefined;
  const onSettled = () => cache.invalidateQueries({ queryKey: ["room", found.groupId] });
  const create = useMutation({
    mutationFn: (kind: (typeof KINDS)[number]) =>
      data(client.POST("/workrooms/{id}/documents", { params: { path }, body: { title: t(`room.kind.${kind}`), documentType: kind, ...(assignmentId ? { assignmentId } : {}) } })),
    onSettled,
  });
  const upload = useMutation({
    mutationFn: (file: File) => {
      const form = new FormData();
      if (assignmentId) form.append("assignmentId", assignmentId);
      form.append("file", file);
      return client.POST("/workrooms/{id}/documents", { params: { path }, body: form as never, bodySerializer: (body) => body as never });
    },
    onSettled,
  });
  return { create: create.mutate, upload: upload.mutate, isPending: create.isPending || upload.isPending, problem: create.error ?? upload.error };
}
