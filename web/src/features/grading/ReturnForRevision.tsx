import { useQueryClient } from "@tanstack/react-query";
import { DialogTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { useTime } from "../../i18n/time";
import { DateTimeField } from "../../forms/DateTimeField";
import { FormBody } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { Dialog } from "../../components/Dialog";
import { revisionDeadline, type Submission } from "./work";

interface Props {
  submission: Submission;
  /** Feedback typed so far, the initial text of the dialog. */
  feedback: string;
  isFinished: boolean;
  groupName: string;
  /** The deadline of the group. */
  deadline: string;
}

/** Returns the work for revision with a text. Not available in a finished, locked topic. */
export function ReturnForRevision({ isFinished, ...rest }: Props) {
  const { t } = useTranslation();
  if (isFinished) return null;
  return (
    <DialogTrigger>
      <Button kind="quiet" className="px-2">
        {t("work.revise")}
      </Button>
      <Dialog title={t("work.reviseTitle", { name: rest.groupName })}>
        {(close) => <RevisionForm {...rest} close={close} />}
      </Dialog>
    </DialogTrigger>
  );
}

function RevisionForm({
  submission,
  feedback,
  groupName,
  deadline,
  close,
}: Omit<Props, "isFinished"> & { close: () => void }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const cache = useQueryClient();
  const form = useForm({
    initial: () => ({ feedback, until: revisionDeadline(deadline, serverNow()) }),
    send: (values) =>
      unwrap(
        client.POST("/feedback/submissions/{id}/return", {
          params: { path: { id: submission.id } },
          body: {
            feedback: values.feedback.trim(),
            ...(values.until === null ? {} : { lateAllowedUntil: values.until }),
          },
        }),
      ),
    onSent: () => {
      toast(t("work.revised", { name: groupName }));
      close();
    },
    onSettled: () => cache.invalidateQueries(),
  });
  return (
    <FormBody form={form} submitLabel={t("work.reviseGo")} close={close}>
      <p>{t("work.reviseText")}</p>
      <TextArea
        autoFocus
        label={t("work.reviseWords")}
        isRequired
        maxLength={10_000}
        rows={5}
        {...form.field("feedback")}
      />
      <DateTimeField
        label={t("work.reviseUntil")}
        hint={t("work.reviseUntilHint", { when: moment(deadline) })}
        {...form.field("until", "lateAllowedUntil")}
      />
    </FormBody>
  );
}
