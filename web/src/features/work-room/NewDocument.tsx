import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { fieldError } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
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
        <Dialog
          title={t("room.newKind", { kind: t(`room.kind.${kind}`) })}
          isOpen
          onOpenChange={(isOpen) => isOpen || setKind(undefined)}
        >
          {(close) => <NameDialog workRoom={workRoom} topic={topic} kind={kind} close={close} />}
        </Dialog>
      )}
    </>
  );
}

function NameDialog({
  workRoom,
  topic,
  kind,
  close,
}: {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  kind: Kind;
  close: () => void;
}) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const assignmentId = topic?.assignment.status === "ACTIVE" ? topic.assignmentId : undefined;
  const create = useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/workrooms/{id}/documents", {
          params: { path: { id: workRoom.id } },
          body: { title: title.trim(), documentType: kind, ...(assignmentId === undefined ? {} : { assignmentId }) },
        }),
      ),
    onSuccess: async (document) => {
      await cache.invalidateQueries({ queryKey: queryKeys.room.one(workRoom.groupId) });
      close();
      await navigate({
        to: "/g/$groupId/d/$documentId",
        params: { groupId: workRoom.groupId, documentId: document.id },
        search: topic ? { topic: topic.assignmentId } : {},
      });
    },
  });
  const error = fieldError(create.error, "title");
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (title.trim() !== "" && !create.isPending) create.mutate();
      }}
    >
      <TextField
        autoFocus
        label={t("room.name")}
        value={title}
        onChange={setTitle}
        maxLength={120}
        {...(error ? { problem: error } : {})}
      />
      {create.isError && !error ? <ErrorMessage problem={create.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isDisabled={title.trim() === ""} isPending={create.isPending}>
          {t("room.create")}
        </Button>
      </p>
    </form>
  );
}
