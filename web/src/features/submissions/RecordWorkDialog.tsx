import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { Skeleton } from "../../components/base/Skeleton";
import { toast } from "../../components/base/toast";
import { useNow } from "../../hooks/serverClock";
import { ErrorMessage } from "../../components/ErrorMessage";
import { CheckboxList } from "../../forms/CheckboxList";
import { FormDialog } from "../../forms/FormDialog";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { topicWorksQuery } from "../grading/work";
import { groupName } from "../topics/topic";
import { canBeRecorded } from "./submissions";

interface Props {
  topicId: string;
  title: string;
  onClose: () => void;
}

/** Records talks, posters or other work without documents for several groups of a topic. */
export function RecordWorkDialog({ topicId, title, onClose }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const found = useQuery(topicWorksQuery(topicId));
  const now = useNow(30_000);
  const topic = found.data;
  const groups = topic?.groupAssignments.filter((one) => canBeRecorded(topic, one, now)) ?? [];
  const form = useForm({
    initial: { groupIds: [] as string[], note: "" },
    send: ({ groupIds, note }) =>
      unwrap(
        client.POST("/assignments/{id}/record-work", { params: { path: { id: topicId } }, body: { groupIds, note } }),
      ),
    onSent: ({ recorded }) => {
      onClose();
      toast(t("submissions.recorded", { count: recorded }));
      return cache.invalidateQueries();
    },
  });
  const { value, onChange } = form.field("groupIds");
  return (
    <FormDialog
      title={t("submissions.recordTitle", { title })}
      form={form}
      submitLabel={
        groups.length === 0
          ? undefined
          : value.length === 0
            ? t("work.recordGo")
            : t("submissions.recordGo", { count: value.length })
      }
      isIncomplete={value.length === 0}
      onClose={onClose}
    >
      <p>{t("submissions.recordText")}</p>
      {found.isPending ? <Skeleton count={3} /> : null}
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.data && groups.length === 0 ? <p>{t("submissions.recordNone")}</p> : null}
      {groups.length === 0 ? null : (
        <>
          <CheckboxList
            label={t("submissions.recordGroups")}
            layout="scroll"
            options={groups.map((one) => ({ id: one.groupId, name: groupName(one.group) }))}
            value={value}
            onChange={onChange}
            {...(groups.length > 1 ? { allLabel: t("submissions.recordAll") } : {})}
          />
          <TextField
            label={t("work.recordNote")}
            hint={t("submissions.recordHint")}
            maxLength={1000}
            {...form.field("note")}
          />
        </>
      )}
    </FormDialog>
  );
}
