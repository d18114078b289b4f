import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Form } from "../../forms/Form";
import { client, unwrap, Problem, type Schemas } from "../../api/client";
import { classGroupsQuery } from "../group-maker/courseGroups";
import { useFormatBytes } from "../../i18n/bytes";
import { Button } from "../../components/Button";
import { CheckboxList } from "../../forms/CheckboxList";
import { FileDropZone } from "../../forms/FileDropZone";
import { Select } from "../../forms/Select";
import { UnsavedChangesGuard } from "../../forms/UnsavedChangesGuard";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Card } from "../../components/Card";
import { useTopicEdits } from "./useTopicEdits";
import { type NamedGroup, TopicRuleFields, TopicTextFields } from "./TopicFields";
import { emptyForm, findMissingFields, newTopicBody } from "./topicForm";
import { RestoredDraftNotice } from "./RestoredDraftNotice";
import { TopicUploads } from "./TopicUploads";
import { type AttachmentUpload, useAttachmentUploads } from "./useAttachmentUploads";
import { type NewTopicFiles, useNewTopicFiles } from "./useNewTopicFiles";
import { groupName, refreshTopics } from "./topic";

interface Props {
  classId: string;
  courseId: string | null;
  person: string;
}

type Step = "text" | "groups";
const STEPS: readonly Step[] = ["text", "groups"];

/** Moves the focus to the first invalid field, once it is rendered. */
const focusInvalid = () =>
  requestAnimationFrame(() => document.querySelector<HTMLElement>("main [aria-invalid=true]")?.focus());

/** Creates a topic in two steps, text and files, then groups and times; its files are sent afterwards. */
export function NewTopic({ classId, courseId, person }: Props) {
  const { t } = useTranslation();
  const { form, isDirty, isRestored, change, discard, markSaved } = useTopicEdits(
    emptyForm(courseId),
    person,
    `topic:new:${courseId ?? classId}`,
  );
  const known = useQuery(classGroupsQuery(classId));
  const groups = (known.data ?? [])
    .filter((group) => group.courseId === courseId)
    .map((group) => ({ id: group.id, name: groupName(group) }));
  // All groups of the course, except those deselected.
  const [leftOut, setLeftOut] = useState<readonly string[]>([]);
  const chosen = groups.filter((group) => !leftOut.includes(group.id));
  const newFiles = useNewTopicFiles();
  const { uploads, cancel, create } = useCreation(newFiles, markSaved);
  const [step, setStep] = useState<Step>("text");
  const [isTried, setTried] = useState(false);
  const missingFields = findMissingFields(form);
  const lacksTitle = missingFields.includes("title");
  const heading = useRef<HTMLHeadingElement>(null);
  const goTo = (next: Step) => {
    setStep(next);
    setTried(false);
  };
  // The new step is announced.
  const before = useRef(step);
  useEffect(() => {
    if (before.current !== step) heading.current?.focus();
    before.current = step;
  }, [step]);
  const onSubmit = () => {
    if (step === "text" && !lacksTitle) {
      goTo("groups");
      return;
    }
    setTried(true);
    if (lacksTitle) setStep("text");
    if (missingFields.length > 0) focusInvalid();
    else
      create.mutate(
        newTopicBody(
          form,
          classId,
          chosen.map((group) => group.id),
        ),
      );
  };
  const fields = {
    form,
    onChange: change,
    groups: chosen,
    missingFields: isTried ? missingFields : [],
    problem: create.error,
    courses: [],
    canSetStart: false,
    picturesOf: newFiles.picturesOf,
  };
  const hasFiles = newFiles.files.length > 0;
  return (
    <>
      {isRestored ? <RestoredDraftNotice onDiscard={discard} /> : null}
      <ol className="flex flex-wrap gap-2">
        {STEPS.map((one, index) => (
          <li key={one} aria-current={one === step ? "step" : undefined}>
            <Button kind={one === step ? "plain" : "quiet"} onPress={() => goTo(one)}>
              {index + 1} {t(`topic.step.${one}`)}
            </Button>
          </li>
        ))}
      </ol>
      <Form isPending={create.isPending} validationBehavior="aria" onSubmit={onSubmit}>
        <h2 ref={heading} tabIndex={-1} className="sr-only">
          {t(`topic.step.${step}`)}
        </h2>
        {step === "text" ? (
          <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
            <TopicTextFields {...fields} />
            <FileSection newFiles={newFiles} groups={form.isShared ? [] : chosen} uploads={uploads} onCancel={cancel} />
          </div>
        ) : (
          <div className="grid items-start gap-4 lg:grid-cols-[22rem_1fr]">
            <TopicRuleFields {...fields} />
            <section aria-labelledby="groups">
              <Card className="flex flex-col gap-1">
                <h2 id="groups">{t("topic.groups", { count: chosen.length })}</h2>
                {known.isSuccess && groups.length === 0 ? (
                  <p className="text-soft">{t("topic.noGroupsCourse")}</p>
                ) : null}
                {known.isError ? <ErrorMessage problem={known.error} onRetry={() => void known.refetch()} /> : null}
                <CheckboxList
                  label={t("topic.groups", { count: chosen.length })}
                  isBare
                  options={groups}
                  value={chosen.map((group) => group.id)}
                  onChange={(ids) => setLeftOut(groups.map((group) => group.id).filter((id) => !ids.includes(id)))}
                />
                {form.isShared || leftOut.length === 0 ? null : (
                  <p className="text-soft text-sm">{t("topic.leftOutText")}</p>
                )}
                <TopicUploads uploads={uploads} onCancel={cancel} />
              </Card>
            </section>
          </div>
        )}
        {create.isError && !(create.error instanceof Problem && create.error.status === 400) ? (
          <ErrorMessage problem={create.error} />
        ) : null}
        <div className="flex flex-wrap items-center gap-3">
          {step === "text" ? (
            <Button type="submit" kind="main">
              {t("topic.next")}
            </Button>
          ) : (
            <>
              <Button onPress={() => goTo("text")}>{t("app.back")}</Button>
              <Button type="submit" kind="main" isPending={create.isPending}>
                {t("topic.create")}
              </Button>
              <output className="text-soft text-sm">{t("topic.for", { count: chosen.length })}</output>
            </>
          )}
        </div>
      </Form>
      <UnsavedChangesGuard
        isDirty={(isDirty || hasFiles) && !create.isPending}
        text={hasFiles ? t("topic.leaveFiles") : t("topic.leaveText")}
      />
    </>
  );
}

/** Creates the topic, then sends its files: those for all groups, and those of single groups to their links. */
function useCreation({ files }: NewTopicFiles, onCreated: () => void) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { sendings: uploads, send, cancel } = useAttachmentUploads();
  const create = useMutation({
    mutationFn: async (body: Schemas["NewAssignment"]) => {
      const made = await unwrap(client.POST("/assignments", { body }));
      onCreated();
      const links = new Map<string | null, string | null>([[null, null]]);
      if (!made.isShared) for (const own of made.groupAssignments) links.set(own.groupId, own.id);
      const sent = files.filter(({ groupId }) => links.has(groupId));
      let arrived = 0;
      for (const [groupId, link] of links) {
        const own = sent.filter((one) => one.groupId === groupId).map(({ file }) => file);
        // oxlint-disable-next-line no-await-in-loop -- sequential: parallel uploads would share a slow connection
        if (own.length > 0) arrived += await send(made.id, own, link);
      }
      return { made, missing: sent.length - arrived };
    },
    onSuccess: async ({ made, missing }) => {
      toast(missing > 0 ? t("topic.createdWithout", { count: missing }) : t("topic.created"));
      await navigate({ to: "/topics/$topicId", params: { topicId: made.id }, ignoreBlocker: true, replace: true });
      await refreshTopics(cache);
    },
  });
  return { uploads, cancel, create };
}

const ALL = "all";

/** The files to send, and for whom the next ones are. */
function FileSection({
  newFiles: { files, add, remove },
  groups,
  uploads,
  onCancel,
}: {
  newFiles: NewTopicFiles;
  /** Groups that may have their own files; empty while all share one text. */
  groups: readonly NamedGroup[];
  uploads: readonly AttachmentUpload[];
  onCancel: (key: number) => void;
}) {
  const { t } = useTranslation();
  const size = useFormatBytes();
  const [target, setTarget] = useState(ALL);
  const group = groups.find((one) => one.id === target);
  const nameOf = (groupId: string) => groups.find((one) => one.id === groupId)?.name;
  const detail = (groupId: string | null) => {
    const name = groupId === null ? undefined : nameOf(groupId);
    return groupId === null ? "" : name === undefined ? t("topic.notShown") : t("topic.filesFor", { name });
  };
  return (
    <section aria-labelledby="files" className="min-w-0">
      <Card className="flex flex-col gap-3">
        <h2 id="files">{t("topic.files")}</h2>
        {files.length === 0 ? <p className="text-soft">{t("topic.noFiles")}</p> : null}
        <ul className="flex flex-col gap-1 empty:hidden">
          {files.map((one) => (
            <li
              key={`${one.file.name}${one.file.lastModified}${one.file.size}${one.groupId}`}
              className="border-faint flex items-center gap-3 rounded-lg border ps-3"
            >
              <span className="min-w-0 grow break-all">
                {one.file.name}
                <span className="text-soft block text-sm empty:hidden">{detail(one.groupId)}</span>
              </span>
              <span className="text-soft text-sm">{size(one.file.size)}</span>
              <Button
                kind="quiet"
                className="px-0"
                aria-label={t("topic.forgetFile", { name: one.file.name })}
                onPress={() => remove(one)}
              >
                <X aria-hidden="true" className="size-5" />
              </Button>
            </li>
          ))}
        </ul>
        <TopicUploads uploads={uploads} onCancel={onCancel} />
        {groups.length === 0 ? null : (
          <Select
            label={t("topic.fileGoal")}
            value={group?.id ?? ALL}
            onChange={setTarget}
            options={[{ id: ALL, name: t("topic.allGroups") }, ...groups]}
          />
        )}
        <FileDropZone
          label={t("topic.addFiles")}
          hint={t("topic.dropHint")}
          isMany
          onFiles={(more) => add(more, group?.id ?? null)}
        />
      </Card>
    </section>
  );
}
