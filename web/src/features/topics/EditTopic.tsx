import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Form } from "../../forms/Form";
import { translateIfKnown } from "../../i18n";
import { Problem } from "../../api/client";
import { useTime } from "../../i18n/time";
import { currentVersion, type FieldConflict, mergeForm, type Versioned } from "../../api/versions";
import { Button, buttonClass } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { UnsavedChangesGuard } from "../../forms/UnsavedChangesGuard";
import { EditConflict } from "../../forms/EditConflict";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { useTopicEdits } from "./useTopicEdits";
import { useTopicPictures } from "./useTopicPictures";
import { TopicFields } from "./TopicFields";
import { type TopicForm, topicForm, findMissingFields, ownChanges, type Topic } from "./topicForm";
import { RestoredDraftNotice } from "./RestoredDraftNotice";
import { managedCoursesQuery, groupName, editPreviewQuery, refreshTopics, saveTopic } from "./topic";
import { useDebounce } from "../../hooks/useDebounce";

/** A form value as text; texts of single groups are omitted. */
const fieldText = (value: TopicForm[keyof TopicForm]): string =>
  value === null || typeof value === "object" ? "" : typeof value === "boolean" ? (value ? "✓" : "✗") : String(value);

/** An editable topic: its fields are saved together, its groups and files one by one. */
export function EditTopic({ topic, person }: { topic: Versioned<Topic>; person: string }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { moment } = useTime();
  const { form, edits, isDirty, isRestored, change, discard } = useTopicEdits(
    topicForm(topic),
    person,
    `topic:${topic.id}`,
  );
  const all = useQuery(managedCoursesQuery);
  const [isTried, setTried] = useState(false);
  const [recompute, setRecompute] = useState(true);
  const missingFields = findMissingFields(form);
  const picturesOf = useTopicPictures(topic);
  const debouncedEdits = useDebounce(edits, 500);
  const previewQuery = useQuery({
    ...editPreviewQuery(topic.id, debouncedEdits),
    enabled: isDirty && missingFields.length === 0 && Object.keys(debouncedEdits).length > 0,
  });
  const handedIn = (topic.stats?.submitted ?? 0) + (topic.stats?.graded ?? 0) + (topic.stats?.returned ?? 0);
  const [conflict, setConflict] = useState<{ current: TopicForm; differences: FieldConflict<TopicForm>[] }>();
  const saving = useMutation({
    mutationFn: () => saveTopic(topic, edits, recompute && edits.deadline !== undefined && handedIn > 0),
    onError: (problem) => {
      const now = currentVersion<Topic>(problem);
      if (now === undefined) return;
      const current = topicForm(now);
      setConflict({ current, differences: mergeForm<TopicForm>(topicForm(topic), form, current).differences });
    },
    onSuccess: () => {
      setConflict(undefined);
      setTried(false);
      toast(t("topic.saved"));
      return navigate({ to: "/topics/$topicId", params: { topicId: topic.id }, ignoreBlocker: true });
    },
    onSettled: () => refreshTopics(cache),
  });
  const onDiscard = () => {
    discard();
    toast(t("topic.discarded"), () => change(edits));
  };
  const problem =
    saving.error ??
    (previewQuery.error instanceof Problem && previewQuery.error.status === 400 ? previewQuery.error : null);
  const names = new Map(topic.groupAssignments.map((own) => [own.groupId, own.group.groupNumber]));
  const list = new Intl.ListFormat(i18n.language, { type: "conjunction" });
  const shared = previewQuery.data && previewQuery.data.changes.length > 0 ? previewQuery.data : undefined;
  const own = Object.keys(ownChanges(edits)).filter((key) => key !== "groups");
  const texts = [...new Set([...Object.keys(edits.texts ?? {}), ...Object.keys(edits.added ?? {})])]
    .map((groupId) => names.get(groupId))
    .filter((number) => number !== undefined);
  const lines = [
    shared === undefined
      ? ""
      : t("topic.changes", {
          fields: list.format(shared.changes.map((field) => fieldName(field))),
          count: shared.groupIds.length,
          groups: shared.groupIds.map((id) => names.get(id)).join(" "),
        }),
    own.length === 0 ? "" : t("topic.changesOwn", { fields: list.format(own.map((field) => fieldName(field))) }),
    texts.length === 0 ? "" : t("topic.changesTexts", { count: texts.length, groups: texts.join(" ") }),
  ].filter(Boolean);
  return (
    <>
      {isRestored ? <RestoredDraftNotice onDiscard={onDiscard} /> : null}
      <Form
        isPending={saving.isPending}
        validationBehavior="aria"
        onSubmit={() => {
          setTried(true);
          if (missingFields.length === 0) saving.mutate();
          else requestAnimationFrame(() => document.querySelector<HTMLElement>("main [aria-invalid=true]")?.focus());
        }}
      >
        <TopicFields
          form={form}
          onChange={change}
          groups={topic.groupAssignments.map((one) => ({ id: one.groupId, name: groupName(one.group) }))}
          missingFields={isTried ? missingFields : []}
          problem={problem}
          courses={(all.data ?? [])
            .filter((course) => course.classId === topic.classId)
            .map((course) => ({ id: course.id, name: `${course.subject.name} › ${course.name}` }))}
          canSetStart={topic.groupAssignments.length > 0}
          picturesOf={picturesOf}
        />
        {saving.isError && conflict !== undefined && currentVersion(saving.error) !== undefined ? (
          <EditConflict
            differences={conflict.differences}
            label={fieldName}
            current={(field) =>
              field === "deadline" ? moment(conflict.current.deadline ?? "") : fieldText(conflict.current[field])
            }
          />
        ) : null}
        {saving.isError &&
        currentVersion(saving.error) === undefined &&
        !(saving.error instanceof Problem && saving.error.status === 400) ? (
          <ErrorMessage problem={saving.error} />
        ) : null}
        {isDirty && edits.deadline !== undefined && handedIn > 0 ? (
          <Checkbox isSelected={recompute} onChange={setRecompute}>
            {t("topic.recompute", { count: handedIn })}
          </Checkbox>
        ) : null}
        <div className="bg-sheet border-faint sticky bottom-0 z-5 -mx-4 -mb-10 flex flex-wrap items-center gap-2 border-t px-4 py-3 lg:-mx-6 lg:px-6">
          <output className="text-soft min-w-0 grow basis-60 text-sm">
            {isDirty
              ? lines.map((line) => (
                  <span key={line} className="block">
                    {line}
                  </span>
                ))
              : t("topic.allSaved")}
          </output>
          {isDirty ? (
            <Button kind="quiet" onPress={onDiscard}>
              {t("topic.discard")}
            </Button>
          ) : null}
          <Link to="/topics/$topicId" params={{ topicId: topic.id }} className={buttonClass()}>
            {t(isDirty ? "app.back" : "topic.editDone")}
          </Link>
          <Button type="submit" kind="main" isDisabled={!isDirty} isPending={saving.isPending}>
            {t("app.save")}
          </Button>
        </div>
      </Form>
      <UnsavedChangesGuard isDirty={isDirty} text={t("topic.leaveText")} />
    </>
  );
}

/** Name of a field in a sentence. */
const fieldName = (field: string): string => translateIfKnown(`topic.field.${field}`) ?? field;
