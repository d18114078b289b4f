import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/base/ConfirmButton";
import { toast } from "../../components/base/toast";
import { FormDialog } from "../../forms/FormDialog";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { useErrorText } from "../../i18n/useErrorText";
import type { GroupTopic } from "../work-room/workRoom";

interface Props {
  work: GroupTopic;
  groupName: string;
}

/** Records a talk, a poster or other work without a document, so that it can be graded. */
export function RecordWork(props: Props) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button aria-haspopup="dialog" onPress={() => setOpen(true)}>
        {t("work.record")}
      </Button>
      {isOpen ? <RecordWorkDialog {...props} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function RecordWorkDialog({ work, groupName, onClose }: Props & { onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const form = useForm({
    initial: { note: "" },
    send: ({ note }) =>
      unwrap(
        client.POST("/assignments/{id}/groups/{groupId}/submission", {
          params: { path: { id: work.assignmentId, groupId: work.groupId } },
          body: { note },
        }),
      ),
    onSent: () => {
      onClose();
      return cache.invalidateQueries();
    },
  });
  return (
    <FormDialog
      title={t("work.recordTitle", { name: groupName })}
      form={form}
      submitLabel={t("work.recordGo")}
      onClose={onClose}
    >
      <p>{t("work.recordText")}</p>
      <TextField label={t("work.recordNote")} hint={t("work.recordHint")} maxLength={1000} {...form.field("note")} />
    </FormDialog>
  );
}

/** Removes recorded work without documents. */
export function RemoveRecord({ work, groupName }: Props) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      unwrap(
        client.DELETE("/assignments/{id}/groups/{groupId}/submission", {
          params: { path: { id: work.assignmentId, groupId: work.groupId } },
        }),
      ),
    onSuccess: () => cache.invalidateQueries(),
    onError: (problem) => void toast(errorText(problem)),
  });
  return (
    <ConfirmButton
      kind="quiet"
      open={t("work.recordRemove")}
      title={t("work.recordRemoveTitle", { name: groupName })}
      text={t("work.recordRemoveText")}
      confirmLabel={t("work.recordRemoveGo")}
      isPending={remove.isPending}
      onConfirm={() => remove.mutate()}
    />
  );
}
