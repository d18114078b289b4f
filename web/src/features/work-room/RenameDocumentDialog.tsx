import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { FormDialog } from "../../forms/FormDialog";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import type { Document } from "./workRoom";

interface Props {
  document: Document;
  groupId: string;
  onClose: () => void;
}

/** Renames a document; its type stays. */
export function RenameDocumentDialog({ document, groupId, onClose }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const form = useForm({
    initial: { title: document.title },
    send: ({ title }) =>
      client.PATCH("/workrooms/documents/{id}", {
        params: { path: { id: document.id } },
        body: { title: title.trim() },
      }),
    onSent: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: queryKeys.room.one(groupId) }),
  });
  return (
    <FormDialog
      title={t("app.rename")}
      form={form}
      submitLabel={t("app.save")}
      isIncomplete={form.values.title.trim() === ""}
      onClose={onClose}
    >
      <TextField autoFocus label={t("room.name")} maxLength={120} {...form.field("title")} />
    </FormDialog>
  );
}
