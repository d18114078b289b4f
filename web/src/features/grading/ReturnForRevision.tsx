import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DialogTrigger, Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { fieldError } from "../../i18n/useErrorText";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import type { Submission } from "./work";

interface Props {
  submission: Submission;
  /** Feedback typed so far, the initial text of the dialog. */
  feedback: string;
  isFinished: boolean;
  groupName: string;
}

/** Returns the work for revision with a text. Not available in a finished, locked topic. */
export function ReturnForRevision({ submission, feedback, isFinished, groupName }: Props) {
  const { t } = useTranslation();
  if (isFinished) return null;
  return (
    <DialogTrigger>
      <Button kind="quiet" className="px-2">
        {t("work.revise")}
      </Button>
      <Dialog title={t("work.reviseTitle", { name: groupName })}>
        {(close) => <RevisionForm submission={submission} feedback={feedback} groupName={groupName} close={close} />}
      </Dialog>
    </DialogTrigger>
  );
}

function RevisionForm({ submission, feedback, groupName, close }: Omit<Props, "isFinished"> & { close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [text, setText] = useState(feedback);
  const returning = useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/feedback/submissions/{id}/return", {
          params: { path: { id: submission.id } },
          body: { feedback: text.trim() },
        }),
      ),
    onSuccess: () => {
      toast(t("work.revised", { name: groupName }));
      close();
    },
    onSettled: () => cache.invalidateQueries(),
  });
  const error = fieldError(returning.error, "feedback");
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") returning.mutate();
      }}
    >
      <p>{t("work.reviseText")}</p>
      <TextArea
        label={t("work.reviseWords")}
        value={text}
        onChange={setText}
        isRequired
        maxLength={10_000}
        rows={5}
        problem={error}
      />
      {returning.isError && error === undefined ? <ErrorMessage problem={returning.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isPending={returning.isPending}>
          {t("work.reviseGo")}
        </Button>
      </p>
    </Form>
  );
}
