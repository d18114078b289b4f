import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Form } from "../../forms/Form";
import { client, unwrap, Problem } from "../../api/client";
import { classGroupsQuery } from "../group-maker/courseGroups";
import { useFormatBytes } from "../../i18n/bytes";
import { Button } from "../../components/Button";
import { CheckboxList } from "../../forms/CheckboxList";
import { FileDropZone } from "../../forms/FileDropZone";
import { UnsavedChangesGuard } from "../../forms/UnsavedChangesGuard";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Card } from "../../components/Card";
import { useTopicEdits } from "./useTopicEdits";
import { TopicFields } from "./TopicFields";
import { emptyForm, findMissingFields, newTopicBody } from "./topicForm";
import { RestoredDraftNotice } from "./RestoredDraftNotice";
import { TopicUploads } from "./TopicUploads";
import { useAttachmentUploads } from "./useAttachmentUploads";
import { groupName, refreshTopics } from "./topic";

interface Props {
  classId: string;
  courseId: string | null;
  person: string;
}

/** Creates a topic with one button, then uploads its files. */
export function NewTopic({ classId, courseId, person }: Props) {
  const { t } = useTranslation();
  const size = useFormatBytes();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { form, isDirty, isRestored, change, discard, markSaved } = useTopicEdits(
    emptyForm(courseId),
    person,
    `topic:new:${courseId ?? classId}`,
  );
  const known = useQuery(classGroupsQuery(classId));
  const groups = (known.data ?? []).filter((group) => group.courseId === courseId);
  // All groups of the course, except those deselected.
  const [leftOut, setLeftOut] = useState<readonly string[]>([]);
  const chosen = groups.filter((group) => !leftOut.includes(group.id));
  const [files, setFiles] = useState<readonly File[]>([]);
  const { sendings: uploads, send, cancel } = useAttachmentUploads();
  const [isTried, setTried] = useState(false);
  const missingFields = findMissingFields(form);
  const create = useMutation({
    mutationFn: async () => {
      const created = await unwrap(
        client.POST("/assignments", {
          body: newTopicBody(
            form,
            classId,
            chosen.map((group) => group.id),
          ),
        }),
      );
      markSaved();
      const arrived = await send(created.id, files);
      return { made: created, missing: files.length - arrived };
    },
    onSuccess: async ({ made: created, missing }) => {
      toast(missing > 0 ? t("topic.createdWithout", { count: missing }) : t("topic.created"));
      await navigate({ to: "/topics/$topicId", params: { topicId: created.id }, ignoreBlocker: true, replace: true });
      await refreshTopics(cache);
    },
  });
  return (
    <>
      {isRestored ? <RestoredDraftNotice onDiscard={discard} /> : null}
      <Form
        isPending={create.isPending}
        validationBehavior="aria"
        onSubmit={() => {
          setTried(true);
          if (missingFields.length === 0) create.mutate();
          else requestAnimationFrame(() => document.querySelector<HTMLElement>("main [aria-invalid=true]")?.focus());
        }}
      >
        <TopicFields
          form={form}
          onChange={change}
          groups={chosen.map((group) => ({ id: group.id, name: groupName(group) }))}
          missingFields={isTried ? missingFields : []}
          problem={create.error}
          courses={[]}
          canSetStart={false}
        />
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <section aria-labelledby="files">
            <Card className="flex flex-col gap-3">
              <h2 id="files">{t("topic.files")}</h2>
              {files.length === 0 ? <p className="text-soft">{t("topic.noFiles")}</p> : null}
              <ul className="flex flex-col gap-1 empty:hidden">
                {files.map((file, index) => (
                  <li
                    key={`${file.name}${file.lastModified}${file.size}`}
                    className="border-faint flex items-center gap-3 rounded-lg border ps-3"
                  >
                    <span className="min-w-0 grow break-all">{file.name}</span>
                    <span className="text-soft text-sm">{size(file.size)}</span>
                    <Button
                      kind="quiet"
                      className="px-0"
                      aria-label={t("topic.forgetFile", { name: file.name })}
                      onPress={() => setFiles(files.filter((_, at) => at !== index))}
                    >
                      <X aria-hidden="true" className="size-5" />
                    </Button>
                  </li>
                ))}
              </ul>
              <TopicUploads uploads={uploads} onCancel={cancel} />
              <FileDropZone
                label={t("topic.addFiles")}
                hint={t("topic.dropHint")}
                isMany
                onFiles={(more) => setFiles([...files, ...more])}
              />
            </Card>
          </section>
          <section aria-labelledby="groups">
            <Card className="flex flex-col gap-1">
              <h2 id="groups">{t("topic.groups", { count: chosen.length })}</h2>
              {known.isSuccess && groups.length === 0 ? <p className="text-soft">{t("topic.noGroupsCourse")}</p> : null}
              {known.isError ? <ErrorMessage problem={known.error} onRetry={() => void known.refetch()} /> : null}
              <CheckboxList
                label={t("topic.groups", { count: chosen.length })}
                isBare
                options={groups.map((group) => ({ id: group.id, name: groupName(group) }))}
                value={chosen.map((group) => group.id)}
                onChange={(ids) => setLeftOut(groups.map((group) => group.id).filter((id) => !ids.includes(id)))}
              />
            </Card>
          </section>
        </div>
        {create.isError && !(create.error instanceof Problem && create.error.status === 400) ? (
          <ErrorMessage problem={create.error} />
        ) : null}
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" kind="main" isPending={create.isPending}>
            {t("topic.create")}
          </Button>
          <output className="text-soft text-sm">{t("topic.for", { count: chosen.length })}</output>
        </div>
      </Form>
      <UnsavedChangesGuard
        isDirty={(isDirty || files.length > 0) && !create.isPending}
        text={files.length > 0 ? t("topic.leaveFiles") : t("topic.leaveText")}
      />
    </>
  );
}
