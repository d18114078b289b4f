import { Link } from "@tanstack/react-router";
import { FileSpreadsheet, FileText, Presentation, Upload } from "lucide-react";
import { DropZone, type FileDropItem, FileTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { StateChip } from "../../components/base/StateChip";
import { Time } from "../../components/base/Time";
import { DocumentMenu } from "./DocumentMenu";
import { NewDocument } from "./NewDocument";
import { type Document, fileName, splitDocuments, type GroupTopic, useUserName, type WorkRoom } from "./workRoom";
import { RoomUploads } from "./RoomUploads";
import { useUploads } from "./useUploads";

interface Props {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  /** Id of the document open next to the list. */
  openId?: string | undefined;
  isArchived: boolean;
}

/** The documents of the room, and how to add some. Files can be dropped anywhere on it. */
export function DocumentList({ workRoom, topic, openId, isArchived }: Props) {
  const { t } = useTranslation();
  const { here: ofTopic, elsewhere: ofOtherTopics } = splitDocuments(workRoom.documents, topic);
  const uploads = useUploads(
    workRoom.groupId,
    workRoom.id,
    topic?.assignment.status === "ACTIVE" ? topic.assignmentId : undefined,
  );
  const row = (document: Document) => (
    <DocumentRow
      key={document.id}
      document={document}
      workRoom={workRoom}
      topic={topic}
      isOpen={document.id === openId}
    />
  );
  const list = (
    <>
      {ofTopic.length === 0 ? (
        <p className="text-soft">{t("room.noDocuments")}</p>
      ) : (
        <ul className="flex flex-col gap-1">{ofTopic.map(row)}</ul>
      )}
      {ofOtherTopics.length === 0 ? null : (
        <details>
          <summary className="min-h-11 cursor-pointer py-2 font-medium">
            {t("room.elsewhere", { count: ofOtherTopics.length })}
          </summary>
          <ul className="flex flex-col gap-1">{ofOtherTopics.map(row)}</ul>
        </details>
      )}
      <RoomUploads uploads={uploads.sending} />
    </>
  );
  if (isArchived) return <div className="flex flex-col gap-3">{list}</div>;
  return (
    <DropZone
      aria-label={t("room.dropHere")}
      className="data-drop-target:outline-accent data-focus-visible:outline-accent data-focus-visible:outline-3 flex flex-col gap-3 rounded-lg data-drop-target:outline-2 data-drop-target:outline-offset-4 data-drop-target:outline-dashed"
      onDrop={(event) =>
        void Promise.all(
          event.items.filter((item): item is FileDropItem => item.kind === "file").map((item) => item.getFile()),
        ).then(uploads.send)
      }
    >
      <p className="flex flex-wrap gap-2">
        <NewDocument workRoom={workRoom} topic={topic} />
        <FileTrigger allowsMultiple onSelect={(files) => uploads.send([...(files ?? [])])}>
          <Button>
            <Upload aria-hidden="true" className="size-4" /> {t("room.upload")}
          </Button>
        </FileTrigger>
      </p>
      {list}
    </DropZone>
  );
}

const ICONS = { word: FileText, cell: FileSpreadsheet, slide: Presentation, pdf: FileText } as const;

function DocumentRow({
  document,
  workRoom,
  topic,
  isOpen,
}: {
  document: Document;
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  isOpen: boolean;
}) {
  const { t } = useTranslation();
  const nameOf = useUserName(workRoom);
  const Icon = ICONS[document.documentType];
  return (
    <li
      className={`flex items-start gap-1 rounded-lg border ps-2 ${isOpen ? "bg-accent-soft border-transparent" : "border-transparent hover:bg-sunk"}`}
    >
      <Link
        to="/groups/$groupId/documents/$documentId"
        params={{ groupId: workRoom.groupId, documentId: document.id }}
        search={topic ? { topic: topic.assignmentId } : {}}
        aria-current={isOpen ? "page" : undefined}
        className="text-ink flex min-h-11 min-w-0 grow flex-col justify-center py-2 hover:no-underline"
      >
        <span className="flex items-start gap-2">
          <Icon aria-hidden="true" className="text-soft mt-0.5 size-4.5 shrink-0" />
          <span className="min-w-0 font-medium break-words">{fileName(document)}</span>
        </span>
        <span className="text-soft text-note ps-6.5">
          {document.lastEditedBy === null
            ? null
            : `${document.lastEditedByUser?.name ?? nameOf(document.lastEditedBy)} · `}
          <Time at={document.lastActivity} />
        </span>
        {document.status === "DRAFT" && document.saveFailedAt === null && !document.unreadComments ? null : (
          <span className="flex flex-wrap gap-1 ps-6.5 pt-1">
            {document.status === "DRAFT" ? null : (
              <StateChip state={document.status === "LOCKED" ? "finished" : "submitted"}>
                {t(`room.state.${document.status}`)}
              </StateChip>
            )}
            {document.saveFailedAt === null ? null : <Badge tone="bad">{t("room.notSaved")}</Badge>}
            {document.unreadComments ? (
              <Badge tone="warn">{t("room.newComments", { count: document.unreadComments })}</Badge>
            ) : null}
            {document.unreadMentions ? <Badge tone="warn">{t("room.mentionsYou")}</Badge> : null}
          </span>
        )}
      </Link>
      <DocumentMenu document={document} workRoom={workRoom} isOpen={isOpen} />
    </li>
  );
}
