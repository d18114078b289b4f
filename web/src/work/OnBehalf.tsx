import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import type { Document } from "../features/work-room/workRoom";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { Field } from "../ui/Field";
import { Problems } from "../ui/Problems";
import { Window } from "../ui/Window";

interface Props {
  groupName: string;
  /** What can be submitted, or taken back. */
  documents: readonly Document[];
}

/** Hands documents in for a group that forgot, or could not. */
export function SubmitFor({ assignmentId, ...rest }: Props & { assignmentId: string }) {
  const { t } = useTranslation();
  const submit = (document: Document, words: string) =>
    data(client.POST("/workrooms/documents/{id}/submit", { params: { path: { id: document.id } }, body: { assignmentId, ...(words === "" ? {} : { note: words }) } }));
  return <For {...rest} words={{ open: t("work.submitFor"), title: t("work.submitForTitle", { name: rest.groupName }), text: t("work.submitForText"), field: t("work.submitNote"), go: t("work.submitGo") }} deed={submit} />;
}

/** Takes documents back for a group, so that it can go on writing. */
export function TakeBackFor(props: Props) {
  const { t } = useTranslation();
  const takeBack = (document: Document, reason: string) =>
    data(client.POST("/workrooms/documents/{id}/unsubmit", { params: { path: { id: document.id } }, body: reason === "" ? {} : { reason } }));
  return <For {...props} kind="quiet" words={{ open: t("work.backFor"), title: t("work.backForTitle", { name: props.groupName }), text: t("work.backForText"), field: t("work.backReason"), go: t("work.backGo") }} deed={takeBack} />;
}

interface Words {
  open: string;
  title: string;
  text: string;
  field: string;
  go: string;
}

function For({ words, kind = "plain", ...rest }: Props & { words: Words; kind?: "plain" | "quiet"; deed: (document: Document, words: string) => Promise<unknown> }) {
  if (rest.documents.length === 0) return null;
  return (
    <DialogTrigger>
      <Button kind={kind} className={kind === "quiet" ? "px-2" : ""}>
        {words.open}
      </Button>
      <Window title={words.title}>{(close) => <Pick words={words} close={close} {...rest} />}</Window>
    </DialogTrigger>
  );
}

function Pick({ words, documents, deed, close }: Omit<Props, "groupName"> & { words: Words; deed: (document: Document, words: string) => Promise<unknown>; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState("");
  const [done, setDone] = useState<readonly string[]>([]);
  const chosen = documents.filter((one) => !left.has(one.id) && !done.includes(one.id));
  // One after the other: each is its own deed of the service, and what went through stays done when the next one fails.
  const go = useMutation({
    mutationFn: async () => {
      for (const document of chosen) {
        await deed(document, text.trim());
        setDone((before) => [...before, document.id]);
      }
    },
    onSuccess: close,
    onSettled: () => cache.invalidateQueries(),
  });
  return (
    <>
      <p>{words.text}</p>
      <div>
        {documents.map((one) => (
          <Check
            key={one.id}
            isSelected={!left.has(one.id)}
            isDisabled={done.includes(one.id)}
            onChange={(isOn) => setLeft((before) => new Set(isOn ? [...before].filter((id) => id !== one.id) : [...before, one.id]))}
          >
            {one.title}.{one.fileExtension}
            {done.includes(one.id) ? ` – ${t("work.done")}` : ""}
          </Check>
        ))}
      </div>
      <Field label={words.field} value={text} onChange={setText} maxLength={1000} />
      {go.isError ? <Problems problem={go.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" isDisabled={chosen.length === 0} isPending={go.isPending} onPress={() => go.mutate()}>
          {words.go}
        </Button>
      </p>
    </>
  );
}
