import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { getDraft, saveDraft } from "../../forms/drafts";
import { fieldError } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import type { Addressee } from "./messages";
import { RecipientPicker, type Recipients } from "./RecipientPicker";

interface Props {
  own: string;
  isStaff: boolean;
  /** The message that is replied to. */
  to?: Addressee | undefined;
  subject?: string | undefined;
  onClose: () => void;
}

/** A new message. The draft is stored in this browser until it is sent. */
export function NewMessageDialog({ own, isStaff, to, subject: about = "", onClose }: Props) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={t(to ? "messages.answer" : "messages.write")}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
      isWide
    >
      {(close) => <MessageForm own={own} isStaff={isStaff} to={to} subject={about} close={close} />}
    </Dialog>
  );
}

function MessageForm({ own, isStaff, to, subject: about = "", close }: Omit<Props, "onClose"> & { close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const draftKey = `message:${to?.id ?? ""}`;
  const [recipients, setRecipients] = useState<Recipients>({ people: to ? [to] : [], classId: null });
  const [subject, setSubject] = useState(about);
  const [content, setContent] = useState(() => getDraft(own, draftKey));
  const updateText = (text: string) => {
    setContent(text);
    saveDraft(own, draftKey, text);
  };
  const send = useMutation({
    mutationFn: () =>
      client.POST("/messages", {
        body: {
          content: content.trim(),
          ...(subject.trim() === "" ? {} : { subject: subject.trim() }),
          ...(recipients.classId === null
            ? { recipientIds: recipients.people.map((one) => one.id) }
            : { classId: recipients.classId }),
        },
      }),
    onSuccess: () => {
      updateText("");
      toast(t("messages.sent"));
      close();
    },
    onSettled: () => invalidate(cache, "messages"),
  });
  const isReady = content.trim() !== "" && (recipients.classId !== null || recipients.people.length > 0);
  const error = fieldError(send.error, "subject");
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !send.isPending) send.mutate();
      }}
    >
      {to ? (
        <p>{t("messages.to", { names: to.name })}</p>
      ) : (
        <RecipientPicker isStaff={isStaff} own={own} recipients={recipients} onChange={setRecipients} />
      )}
      <TextField
        label={t("messages.subject")}
        value={subject}
        onChange={setSubject}
        maxLength={200}
        {...(error ? { problem: error } : {})}
      />
      <TextArea
        label={t("messages.text")}
        rows={6}
        maxLength={4000}
        value={content}
        onChange={updateText}
        problem={fieldError(send.error, "content")}
      />
      {send.isError ? <ErrorMessage problem={send.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isDisabled={!isReady} isPending={send.isPending}>
          {t(send.isError ? "messages.again" : "messages.send")}
        </Button>
      </p>
    </form>
  );
}
