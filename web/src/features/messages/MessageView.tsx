import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { ConfirmButton } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { type Message, messageQuery } from "./messages";

interface Props {
  /** The list item, shown until the full message is loaded. */
  preview: Message;
  own: string;
  onReply: (message: Message) => void;
  onDeleted: () => void;
}

/** A message in full; reading it changes the user's own unread count only. */
export function MessageView({ preview, own, onReply, onDeleted }: Props) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const found = useQuery({ ...messageQuery(preview.id), placeholderData: preview });
  const isOwn = preview.sender.id === own;
  const isNew = preview.readAt === null && !isOwn;
  useEffect(() => {
    if (!isNew) return;
    void client
      .POST("/messages/{id}/read", { params: { path: { id: preview.id } } })
      .then(() => invalidate(cache, "messages"))
      .catch(() => undefined);
  }, [preview.id, isNew, cache]);
  const remove = useMutation({
    mutationFn: () => client.DELETE("/messages/{id}", { params: { path: { id: preview.id } } }),
    onSuccess: () => {
      toast(t("messages.deleted"));
      onDeleted();
      document.querySelector<HTMLElement>("main h1")?.focus();
    },
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => cache.invalidateQueries({ queryKey: queryKeys.messages.box() }),
  });
  if (!found.data)
    return found.isError ? (
      <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
    ) : (
      <Skeleton count={1} />
    );
  const all = found.data.recipients ?? [];
  return (
    <div className="flex flex-col gap-3 px-3 pb-3">
      {isOwn && all.length > 0 ? (
        <p className="text-soft text-sm">{t("messages.to", { names: all.map((one) => one.name).join(", ") })}</p>
      ) : null}
      <p className="max-w-prose break-words whitespace-pre-wrap">{found.data.content}</p>
      <p className="flex flex-wrap gap-2">
        {isOwn ? null : <Button onPress={() => onReply(found.data)}>{t("messages.answer")}</Button>}
        <ConfirmButton
          kind="quiet"
          open={t("app.delete")}
          title={t("messages.deleteTitle")}
          text={t("messages.deleteText")}
          confirmLabel={t("app.delete")}
          onConfirm={() => remove.mutate()}
          isPending={remove.isPending}
        />
      </p>
    </div>
  );
}
