import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { fieldError } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import type { Document } from "./workRoom";

/** Renames a document; its type stays. */
export function RenameDocumentDialog({
  document,
  groupId,
  onClose,
}: {
  document: Document;
  groupId: string;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [title, setTitle] = useState(document.title);
  const rename = useMutation({
    mutationFn: () =>
      client.PATCH("/workrooms/documents/{id}", {
        params: { path: { id: document.id } },
        body: { title: title.trim() },
      }),
    onSuccess: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: queryKeys.room.one(groupId) }),
  });
  const error = fieldError(rename.error, "title");
  return (
    <Dialog title={t("app.rename")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (title.trim() !== "" && !rename.isPending) rename.mutate();
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
          {rename.isError && !error ? <ErrorMessage problem={rename.error} /> : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button kind="main" type="submit" isDisabled={title.trim() === ""} isPending={rename.isPending}>
              {t("app.save")}
            </Button>
          </p>
        </form>
      )}
    </Dialog>
  );
}
