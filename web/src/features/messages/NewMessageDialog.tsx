import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { invalidate } from "../../api/queryKeys";
import { toast } from "../../components/base/toast";
import { getDraft, saveDraft } from "../../forms/drafts";
import { FormDialog } from "../../forms/FormDialog";
import { TextArea } from "../../forms/TextArea";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
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
export function NewMessageDialog({ own, isStaff, to, subject = "", onClose }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const draftKey = `message:${to?.id ?? ""}`;
  const recipients: Recipients = { people: to ? [to] : [], classId: null };
  const form = useForm({
    initial: () => ({ recipients, subject, content: getDraft(own, draftKey) }),
    send: (values) =>
      client.POST("/messages", {
        body: {
          content: values.content.trim(),
          ...(values.subject.trim() === "" ? {} : { subject: values.subject.trim() }),
          ...(values.recipients.classId === null
            ? { recipientIds: values.recipients.people.map((one) => one.id) }
            : { classId: values.recipients.classId }),
        },
      }),
    onSent: () => {
      saveDraft(own, draftKey, "");
      toast(t("messages.sent"));
      onClose();
    },
    onSettled: () => invalidate(cache, "messages"),
  });
  const { values } = form;
  const hasRecipient = values.recipients.classId !== null || values.recipients.people.length > 0;
  return (
    <FormDialog
      title={t(to ? "messages.answer" : "messages.write")}
      isWide
      form={form}
      submitLabel={t(form.problem === null ? "messages.send" : "messages.again")}
      isIncomplete={values.content.trim() === "" || !hasRecipient}
      onClose={onClose}
    >
      {to ? (
        <p>{t("messages.to", { names: to.name })}</p>
      ) : (
        <RecipientPicker
          isStaff={isStaff}
          own={own}
          recipients={values.recipients}
          onChange={(next) => form.set({ recipients: next })}
        />
      )}
      <TextField label={t("messages.subject")} maxLength={200} {...form.field("subject")} />
      <TextArea
        label={t("messages.text")}
        rows={6}
        maxLength={4000}
        {...form.field("content")}
        onChange={(content) => {
          form.set({ content });
          saveDraft(own, draftKey, content);
        }}
      />
    </FormDialog>
  );
}
