import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { FormDialog } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { TextField } from "../../forms/TextField";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import type { GroupTopic, WorkRoom } from "./workRoom";

export const KINDS = ["word", "cell", "slide"] as const;
type Kind = (typeof KINDS)[number];

/** Creates a document: asks for type and name, then opens it. */
export function NewDocument({ workRoom, topic }: { workRoom: WorkRoom; topic: GroupTopic | undefined }) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<Kind>();
  return (
    <>
      <OverflowMenu
        label={t("room.new")}
        actions={KINDS.map((one) => ({ id: one, name: t(`room.kind.${one}`), onAction: () => setKind(one) }))}
      >
        <Plus aria-hidden="true" className="size-4" /> {t("app.new")}
      </OverflowMenu>
      {kind === undefined ? null : (
        <NewDocumentDialog workRoom={workRoom} topic={topic} kind={kind} onClose={() => setKind(undefined)} />
      )}
    </>
  );
}

interface NewDocumentDialogProps {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  kind: Kind;
  onClose: () => void;
}

function NewDocumentDialog({ workRoom, topic, kind, onClose }: NewDocumentDialogProps) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const assignmentId = topic?.assignment.status === "ACTIVE" ? topic.assignmentId : undefined;
  const form = useForm({
    initial: { title: "" },
    send: ({ title }) =>
      unwrap(
        client.POST("/workrooms/{id}/documents", {
          params: { path: { id: workRoom.id } },
          body: { title: title.trim(), documentType: kind, ...(assignmentId === undefined ? {} : { assignmentId }) },
        }),
      ),
    onSent: async (document) => {
      await cache.invalidateQueries({ queryKey: queryKeys.room.one(workRoom.groupId) });
      onClose();
      await navigate({
        to: "/groups/$groupId/documents/$documentId",
        params: { groupId: workRoom.groupId, documentId: document.id },
        search: topic ? { topic: topic.assignmentId } : {},
      });
    },
  });
  return (
    <FormDialog
      title={t("room.newKind", { kind: t(`room.kind.${kind}`) })}
      form={form}
      submitLabel={t("room.create")}
      isIncomplete={form.values.title.trim() === ""}
      onClose={onClose}
    >
      <TextField autoFocus label={t("room.name")} maxLength={120} {...form.field("title")} />
    </FormDialog>
  );
}
