import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Form } from "../../forms/Form";
import { FormError } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { client } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { useTime } from "../../i18n/time";
import { TextArea } from "../../forms/TextArea";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { isEditable, type RoomMessage } from "./chat";
import { FileLinks } from "./FileLinks";

interface Props {
  message: RoomMessage;
  own: string;
  isStaff: boolean;
  isArchived: boolean;
}

/** One message. Its author can edit it for a while and delete it; teachers can delete any message. */
export function ChatMessage({ message, own, isStaff, isArchived }: Props) {
  const { t } = useTranslation();
  const { clock, full } = useTime();
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const isOwn = message.senderId === own;
  const isTeacher = message.sender !== null && message.sender.role !== "STUDENT";
  const name = isOwn ? t("room.chat.you") : (message.sender?.name ?? t("groups.somebody"));
  const remove = useDelete(message);
  const canDelete = (isOwn || isStaff) && message.deletedAt === null && !isArchived;
  const canEdit = canDelete && isOwn && message.content !== "" && isEditable(message, serverNow());
  const actions = [
    ...(canEdit ? [{ id: "edit", name: t("room.chat.edit"), onAction: () => setDialog("edit") }] : []),
    { id: "delete", name: t("app.delete"), isDanger: true, onAction: () => setDialog("delete") },
  ];
  return (
    <article
      className={`flex max-w-[92%] min-w-40 items-start rounded-xl border px-3 py-1.5 ${dialog === "edit" ? "w-full" : ""} ${isOwn ? "border-accent self-end" : "border-line self-start"}`}
    >
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
          <span className="font-semibold">{name}</span>
          {isTeacher ? <span className="text-soft">{t("room.chat.teacher")}</span> : null}
          <time className="text-soft" dateTime={message.createdAt} title={full(message.createdAt)}>
            {clock(message.createdAt)}
          </time>
          {message.editedAt !== null && message.deletedAt === null ? (
            <span className="text-soft">{t("room.chat.edited")}</span>
          ) : null}
        </p>
        {message.deletedAt !== null ? <p className="text-soft italic">{t("room.chat.deleted")}</p> : null}
        {dialog === "edit" ? (
          <EditMessage message={message} onClose={() => setDialog(undefined)} />
        ) : message.content === "" ? null : (
          <p className="break-words whitespace-pre-wrap">{message.content}</p>
        )}
        <FileLinks files={message.attachments} />
      </div>
      {canDelete ? (
        <span className="-me-3 shrink-0">
          <OverflowMenu label={t("room.chat.message", { name })} actions={actions} isPending={remove.isPending} />
        </span>
      ) : null}
      {dialog === "delete" ? (
        <ConfirmDialog
          title={t("room.chat.deleteTitle")}
          text={t("room.chat.deleteText")}
          confirmLabel={t("app.delete")}
          onConfirm={() => remove.mutate()}
          onClose={() => setDialog(undefined)}
        />
      ) : null}
    </article>
  );
}

function useDelete(message: RoomMessage) {
  const errorText = useErrorText();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () =>
      client.DELETE("/workrooms/{id}/messages/{messageId}", {
        params: { path: { id: message.workRoomId, messageId: message.id } },
      }),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => cache.invalidateQueries({ queryKey: queryKeys.chat.one(message.workRoomId) }),
  });
}

function EditMessage({ message, onClose }: { message: RoomMessage; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const form = useForm({
    initial: { content: message.content },
    send: ({ content }) =>
      client.PATCH("/workrooms/{id}/messages/{messageId}", {
        params: { path: { id: message.workRoomId, messageId: message.id } },
        body: { content },
      }),
    onSent: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: queryKeys.chat.one(message.workRoomId) }),
  });
  const isEmpty = form.values.content.trim() === "";
  return (
    <Form onSubmit={(fields) => isEmpty || form.submit(fields)} isPending={form.isPending} className="gap-2 py-1">
      <TextArea
        autoFocus
        label={t("room.chat.edit")}
        rows={2}
        maxLength={4000}
        onKeyDown={(event) => event.key === "Escape" && onClose()}
        {...form.field("content")}
      />
      <FormError form={form} />
      <p className="flex flex-wrap gap-2">
        <Button kind="main" type="submit" isPending={form.isPending} isDisabled={isEmpty}>
          {t("app.save")}
        </Button>
        <Button onPress={onClose}>{t("ask.cancel")}</Button>
      </p>
    </Form>
  );
}
