import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CheckboxGroup, DialogTrigger, Label } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { FormBody } from "../../forms/FormDialog";
import { mutationForm } from "../../forms/useForm";
import { serverNow } from "../../hooks/serverClock";
import { useTime } from "../../i18n/time";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { ErrorMessage } from "../../components/ErrorMessage";
import { RadioGroup } from "../../forms/RadioGroup";
import { Dialog } from "../../components/Dialog";
import { useLateText } from "../../i18n/useLateText";
import { candidatesQuery, defaultDocuments, defaultTopic, findRelinked, useSubmit } from "./submission";
import {
  type Document,
  fileName,
  lateDeadline,
  type GroupTopic,
  topicDetailQuery,
  useUserName,
  type WorkRoom,
} from "./workRoom";

interface Props {
  workRoom: WorkRoom;
  topic: GroupTopic;
  /** The open document, if any. */
  document?: Document | undefined;
}

/** Submit button, and the dialog that selects documents and topic. */
export function SubmitDialog(props: Props) {
  const { t } = useTranslation();
  return (
    <DialogTrigger>
      <Button kind="main">{t("room.handIn.open")}</Button>
      <Dialog title={t("room.handIn.title")}>{(close) => <SubmitForm {...props} close={close} />}</Dialog>
    </DialogTrigger>
  );
}

function SubmitForm({ workRoom, topic, document, close }: Props & { close: () => void }) {
  const { t } = useTranslation();
  const drafts = workRoom.documents.filter((one) => one.status === "DRAFT" && one.canEdit);
  const topics = useQuery(candidatesQuery(workRoom.groupId));
  const [chosen, setChosen] = useState<string>();
  const [selected, setSelected] = useState<string[]>();
  const assignmentId = chosen ?? defaultTopic(topics.data ?? [], document?.assignmentId, topic.assignmentId);
  const documents = selected ?? defaultDocuments(drafts, assignmentId ?? topic.assignmentId, document?.id);
  const leaving = findRelinked(drafts, documents, assignmentId);
  const own = workRoom.groupAssignments.find((one) => one.assignmentId === assignmentId);
  const { data: classData } = useQuery({
    ...topicDetailQuery(assignmentId ?? ""),
    enabled: assignmentId !== undefined,
  });
  const submitting = useSubmit(workRoom, useUserName(workRoom), close);
  const { moment } = useTime();
  const lateText = useLateText();
  const lateBy = own ? serverNow() - lateDeadline(own) : 0;
  const isClosed = lateBy > 0 && classData?.latePolicy === "BLOCK";
  const remaining = classData && own ? Math.max(0, classData.requiredSubmissions - own.submittedCount) : 0;
  if (topics.isError) return <ErrorMessage problem={topics.error} onRetry={() => void topics.refetch()} />;
  if (topics.data?.length === 0) return <p>{t("room.handIn.none")}</p>;
  return (
    <FormBody
      form={{
        ...mutationForm(submitting),
        submit: () => assignmentId !== undefined && submitting.mutate({ documents, assignmentId }),
      }}
      submitLabel={t("room.handIn.go")}
      isIncomplete={assignmentId === undefined || documents.length === 0 || isClosed}
      close={close}
    >
      <CheckboxGroup value={documents} onChange={setSelected} className="flex flex-col">
        <Label className="font-medium">{t("room.handIn.documents")}</Label>
        {drafts.map((one) => (
          <Checkbox key={one.id} value={one.id}>
            <span className="min-w-0 break-words">{fileName(one)}</span>
          </Checkbox>
        ))}
      </CheckboxGroup>
      {remaining > 1 ? <p>{t("room.handIn.still", { count: remaining })}</p> : null}
      {(topics.data?.length ?? 0) > 1 && assignmentId !== undefined ? (
        <RadioGroup
          label={t("room.topic")}
          value={assignmentId}
          onChange={(id) => {
            setChosen(id);
            setSelected(undefined);
          }}
          options={(topics.data ?? []).map((one) => ({
            id: one.assignmentId,
            name: t("room.handIn.topic", { title: one.title, when: moment(one.deadline) }),
          }))}
        />
      ) : (
        <p>
          {t("room.handIn.for", {
            title: topics.data?.find((one) => one.assignmentId === assignmentId)?.title ?? topic.assignment.title,
          })}
        </p>
      )}
      {leaving.map((one) => (
        <p key={one.id} className="text-warn">
          {t("room.handIn.relink", {
            name: fileName(one),
            title:
              workRoom.groupAssignments.find((link) => link.assignmentId === one.assignmentId)?.assignment.title ??
              t("room.topic"),
          })}
        </p>
      ))}
      {isClosed ? <p className="text-bad">{t("room.handIn.closed")}</p> : null}
      {lateBy > 0 && !isClosed ? (
        <p className="text-warn">{t("room.handIn.isLate", { late: lateText(lateBy / 1000) })}</p>
      ) : null}
      <p>{t("room.handIn.effect")}</p>
    </FormBody>
  );
}
