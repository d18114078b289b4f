import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Paperclip, SendHorizontal, X } from "lucide-react";
import { useRef, useState } from "react";
import { FileTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Form } from "../../forms/Form";
import { client, type Schemas } from "../../api/client";
import { getDraft, saveDraft } from "../../forms/drafts";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { upload } from "../../api/upload";
import { BOX } from "../../components/base/fieldStyles";
import { Button } from "../../components/Button";
import { appendMessage } from "./chatEvents";

type ChatAttachment = Schemas["MessageAttachment"];

/** Message composer. A message that could not be sent stays, also in this browser's storage, and can be sent again. */
export function ChatComposer({ workRoomId, own }: { workRoomId: string; own: string }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [text, setText] = useState(() => getDraft(own, workRoomId));
  const [files, setFiles] = useState<ChatAttachment[]>([]);
  // One client id per message, however often it is sent: the service accepts it once.
  const clientId = useRef(crypto.randomUUID());
  const updateText = (next: string) => {
    setText(next);
    saveDraft(own, workRoomId, next);
  };
  const send = useMutation({
    mutationFn: ({ content, attachmentIds }: { content: string; attachmentIds: string[] }) =>
      client.POST("/workrooms/{id}/messages", {
        params: { path: { id: workRoomId } },
        body: {
          clientMessageId: clientId.current,
          ...(content === "" ? {} : { content }),
          ...(attachmentIds.length > 0 ? { attachmentIds } : {}),
        },
      }),
    onSuccess: ({ data }) => {
      if (!data || appendMessage(cache, data) === "ask")
        void cache.invalidateQueries({ queryKey: queryKeys.chat.one(workRoomId) });
      clientId.current = crypto.randomUUID();
      updateText("");
      setFiles([]);
    },
    // The service may have accepted it although the request failed.
    onError: () => cache.invalidateQueries({ queryKey: queryKeys.chat.one(workRoomId) }),
  });
  const attach = useMutation({
    mutationFn: async (chosen: File[]) => {
      for (const file of chosen) {
        const form = new FormData();
        form.append("file", file);
        const attachment = await upload<ChatAttachment>(`/workrooms/${workRoomId}/messages/attachments`, form).done;
        setFiles((all) => [...all, attachment]);
      }
    },
  });
  const isEmpty = text.trim() === "" && files.length === 0;
  const submit = () => {
    if (!isEmpty && !send.isPending && !attach.isPending)
      send.mutate({ content: text.trim(), attachmentIds: files.map((file) => file.id) });
  };
  const problem = send.error ?? attach.error;
  return (
    <Form isPending={false} onSubmit={submit} className="gap-2">
      {files.length === 0 ? null : (
        <ul className="flex flex-col">
          {files.map((file) => (
            <li key={file.id} className="flex items-center gap-2">
              <Paperclip aria-hidden="true" className="size-4 shrink-0" />
              <span className="min-w-0 grow break-words">{file.fileName}</span>
              <Button
                kind="quiet"
                className="px-0"
                aria-label={t("room.chat.without", { name: file.fileName })}
                onPress={() => setFiles((all) => all.filter((one) => one !== file))}
              >
                <X aria-hidden="true" className="size-5" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      {problem === null ? null : (
        <p role="alert" className="text-bad text-sm">
          {send.isError ? t("room.chat.notSent") : null} {errorText(problem)}
        </p>
      )}
      <label className="flex flex-col">
        <span className="sr-only">{t("room.chat.write")}</span>
        <textarea
          className={`${BOX} py-2`}
          rows={2}
          maxLength={4000}
          placeholder={t("room.chat.write")}
          value={text}
          onChange={(event) => updateText(event.target.value)}
          onKeyDown={(event) => {
            if (
              event.key === "Enter" &&
              !event.shiftKey &&
              !event.nativeEvent.isComposing &&
              !matchMedia("(pointer: coarse)").matches
            ) {
              event.preventDefault();
              submit();
            }
          }}
        />
      </label>
      <span className="flex flex-wrap items-center gap-2">
        <FileTrigger allowsMultiple onSelect={(chosen) => chosen && attach.mutate([...chosen])}>
          <Button isPending={attach.isPending} className="px-0" aria-label={t("room.chat.attach")}>
            <Paperclip aria-hidden="true" className="size-5" />
          </Button>
        </FileTrigger>
        <span aria-hidden="true" className="text-soft hidden grow text-sm pointer-fine:inline">
          {t("room.chat.keys")}
        </span>
        <Button kind="main" type="submit" className="ms-auto" isPending={send.isPending}>
          <SendHorizontal aria-hidden="true" className="size-4" />
          {send.isError ? t("room.chat.again") : t("room.chat.send")}
        </Button>
      </span>
    </Form>
  );
}
