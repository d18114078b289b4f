import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import type { Document } from "../work-room/workRoom";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { TextField } from "../../forms/TextField";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";

interface Props {
  groupName: string;
  /** Documents that can be submitted or taken back. */
  documents: readonly Document[];
}

/** Submits documents on behalf of a group. */
export function SubmitForGroup({ assignmentId, ...rest }: Props & { assignmentId: string }) {
  const { t } = useTranslation();
  const submit = (document: Document, comment: string) =>
    unwrap(
      client.POST("/workrooms/documents/{id}/submit", {
        params: { path: { id: document.id } },
        body: { assignmentId, ...(comment === "" ? {} : { note: comment }) },
      }),
    );
  return (
    <OnBehalfDialog
      {...rest}
      texts={{
        open: t("work.submitFor"),
        title: t("work.submitForTitle", { name: rest.groupName }),
        text: t("work.submitForText"),
        field: t("work.submitNote"),
        confirm: t("work.submitGo"),
      }}
      perform={submit}
    />
  );
}

/** Takes documents back on behalf of a group, so that it can continue to write. */
export function TakeBackForGroup(props: Props) {
  const { t } = useTranslation();
  const takeBack = (document: Document, reason: string) =>
    unwrap(
      client.POST("/workrooms/documents/{id}/unsubmit", {
        params: { path: { id: document.id } },
        body: reason === "" ? {} : { reason },
      }),
    );
  return (
    <OnBehalfDialog
      {...props}
      kind="quiet"
      texts={{
        open: t("work.backFor"),
        title: t("work.backForTitle", { name: props.groupName }),
        text: t("work.backForText"),
        field: t("work.backReason"),
        confirm: t("work.backGo"),
      }}
      perform={takeBack}
    />
  );
}

interface DialogTexts {
  open: string;
  title: string;
  text: string;
  field: string;
  confirm: string;
}

function OnBehalfDialog({
  texts,
  kind = "plain",
  ...rest
}: Props & {
  texts: DialogTexts;
  kind?: "plain" | "quiet";
  perform: (document: Document, text: string) => Promise<unknown>;
}) {
  if (rest.documents.length === 0) return null;
  return (
    <DialogTrigger>
      <Button kind={kind} className={kind === "quiet" ? "px-2" : ""}>
        {texts.open}
      </Button>
      <Dialog title={texts.title}>{(close) => <DocumentPicker texts={texts} close={close} {...rest} />}</Dialog>
    </DialogTrigger>
  );
}

function DocumentPicker({
  texts,
  documents,
  perform,
  close,
}: Omit<Props, "groupName"> & {
  texts: DialogTexts;
  perform: (document: Document, text: string) => Promise<unknown>;
  close: () => void;
}) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState("");
  const [done, setDone] = useState<readonly string[]>([]);
  const chosen = documents.filter((one) => !excluded.has(one.id) && !done.includes(one.id));
  // Sequential: each document is a separate request, and successful ones stay done if the next one fails.
  const run = useMutation({
    mutationFn: async () => {
      for (const document of chosen) {
        await perform(document, text.trim());
        setDone((before) => [...before, document.id]);
      }
    },
    onSuccess: close,
    onSettled: () => cache.invalidateQueries(),
  });
  return (
    <>
      <p>{texts.text}</p>
      <div>
        {documents.map((one) => (
          <Checkbox
            key={one.id}
            isSelected={!excluded.has(one.id)}
            isDisabled={done.includes(one.id)}
            onChange={(isOn) =>
              setExcluded((before) => new Set(isOn ? [...before].filter((id) => id !== one.id) : [...before, one.id]))
            }
          >
            {one.title}.{one.fileExtension}
            {done.includes(one.id) ? ` – ${t("work.done")}` : ""}
          </Checkbox>
        ))}
      </div>
      <TextField label={texts.field} value={text} onChange={setText} maxLength={1000} />
      {run.isError ? <ErrorMessage problem={run.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" isDisabled={chosen.length === 0} isPending={run.isPending} onPress={() => run.mutate()}>
          {texts.confirm}
        </Button>
      </p>
    </>
  );
}
