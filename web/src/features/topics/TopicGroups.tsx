import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap, Problem } from "../../api/client";
import { classGroupsQuery } from "../group-maker/courseGroups";
import { keepFocusNear } from "../../hooks/keepFocusNear";
import { fieldError, useErrorText } from "../../i18n/useErrorText";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { foldCase } from "../../i18n/names";
import { useNow } from "../../hooks/serverClock";
import { Avatars } from "../../components/base/Avatar";
import { Button, buttonClass } from "../../components/Button";
import { useLongList } from "../../components/LongList";
import { SearchField } from "../../components/SearchField";
import { courseGroupsQuery } from "../courses/courses";
import type { ListedGroup } from "../groups/groups";
import { GroupName } from "../lesson/GroupName";
import { PublicationChip } from "../lesson/PublicationChip";
import { hasException, publicationState } from "../lesson/publication";
import { WorkChip } from "../lesson/WorkChip";
import { RecordWorkDialog } from "../submissions/RecordWorkDialog";
import { canBeRecorded } from "../submissions/submissions";
import { Checkbox } from "../../forms/Checkbox";
import { DateTimeField } from "../../forms/DateTimeField";
import { RadioGroup } from "../../forms/RadioGroup";
import { type MenuAction, OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Card } from "../../components/Card";
import { Time } from "../../components/base/Time";
import { Dialog } from "../../components/Dialog";
import type { Topic } from "./topicForm";
import { groupName, type GroupWork, refreshTopics } from "./topic";

/** The groups of a topic: add and remove groups, extend the deadline of one. */
export function TopicGroups({ topic, isLocked }: { topic: Topic; isLocked: boolean }) {
  const { t } = useTranslation();
  const [search, setSearch] = useState("");
  const [isRecording, setRecording] = useState(false);
  const now = useNow(30_000);
  const hasMissing = topic.groupAssignments.some((own) => canBeRecorded(topic, own, now));
  // The topic names its groups; who is in them, and who waits for help, comes with the list of the course.
  const inCourse = useQuery({ ...courseGroupsQuery(topic.courseId ?? ""), enabled: topic.courseId !== null });
  const details = new Map(inCourse.data?.map((group) => [group.id, group]));
  const wanted = foldCase(search);
  const found = topic.groupAssignments.filter((own) =>
    [groupName(own.group), ...(details.get(own.groupId)?.members ?? []).map((member) => member.user.name)].some(
      (text) => foldCase(text).includes(wanted),
    ),
  );
  const { shown, rest } = useLongList(`topic:${topic.id}:${wanted}`, found);
  const count = topic.groupAssignments.length;
  const submitted = topic.groupAssignments.filter(
    (own) => own.status === "SUBMITTED" || own.status === "GRADED",
  ).length;
  return (
    <section aria-labelledby="groups">
      <Card className="flex flex-col px-0! pb-0!">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pb-3 sm:px-5">
          <h2 id="groups" className="me-auto">
            {t("topic.groups", { count })}
          </h2>
          {count === 0 ? null : (
            <span className="text-soft text-note">{t("courses.submitted", { done: submitted, count })}</span>
          )}
          {count > SEARCH_FROM ? (
            <SearchField label={t("courses.findGroup")} value={search} onChange={setSearch} />
          ) : null}
        </div>
        {count === 0 ? (
          <p className="text-soft px-4 pb-4 sm:px-5">{t("topic.noGroups")}</p>
        ) : found.length === 0 ? (
          <p className="text-soft px-4 pb-4 sm:px-5">{t("courses.noGroupFound")}</p>
        ) : null}
        <ul className="divide-faint border-faint divide-y border-t empty:hidden">
          {shown.map((own) => (
            <TopicGroupRow
              key={own.id}
              topic={topic}
              own={own}
              details={details.get(own.groupId)}
              isLocked={isLocked}
            />
          ))}
        </ul>
        {rest}
        {isLocked && !hasMissing ? null : (
          <p className="border-faint flex flex-wrap items-center gap-2 border-t px-4 py-3 sm:px-5">
            {isLocked ? null : (
              <DialogTrigger>
                <Button>{t("topic.addGroups")}</Button>
                <Dialog title={t("topic.addGroupsTitle")}>
                  {(close) => <AddGroups topic={topic} close={close} />}
                </Dialog>
              </DialogTrigger>
            )}
            {isLocked || topic.courseId === null ? null : (
              <Link
                to="/courses/$courseId/divide"
                params={{ courseId: topic.courseId }}
                search={{ topic: topic.id }}
                className={buttonClass("quiet")}
              >
                {t("topic.divide")}
              </Link>
            )}
            {hasMissing ? (
              <Button kind="quiet" aria-haspopup="dialog" onPress={() => setRecording(true)}>
                {t("work.record")}
              </Button>
            ) : null}
          </p>
        )}
      </Card>
      {isRecording ? (
        <RecordWorkDialog topicId={topic.id} title={topic.title} onClose={() => setRecording(false)} />
      ) : null}
    </section>
  );
}

/** Number of groups from which a list has a search field. */
const SEARCH_FROM = 20;

function TopicGroupRow({
  topic,
  own,
  details,
  isLocked,
}: {
  topic: Topic;
  own: GroupWork;
  details: ListedGroup | undefined;
  isLocked: boolean;
}) {
  const { t } = useTranslation();
  const now = useNow(30_000);
  const errorText = useErrorText();
  const cache = useQueryClient();
  const row = useRef<HTMLLIElement>(null);
  const [open, setOpen] = useState<"time" | "publish" | "gone">();
  const path = { id: topic.id, groupId: own.groupId };
  const name = groupName(own.group);
  const hasFiles = topic.attachments.some((file) => file.groupAssignmentId === own.id);
  const undo = useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/assignments/{id}/groups", {
          params: { path: { id: topic.id } },
          body: {
            groups: [
              {
                groupId: own.groupId,
                ...(own.descriptionOverride ? { descriptionOverride: own.descriptionOverride } : {}),
                ...(own.isDraft ? { isDraft: true } : own.publishAt ? { publishAt: own.publishAt } : {}),
              },
            ],
          },
        }),
      ),
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => refreshTopics(cache),
  });
  const remove = useMutation({
    mutationFn: (isForced: boolean) =>
      unwrap(
        client.DELETE("/assignments/{id}/groups/{groupId}", {
          params: { path, query: isForced ? { force: "1" } : {} },
        }),
      ),
    onMutate: () => keepFocusNear(row.current),
    onSuccess: async (_, isForced, focus) => {
      toast(
        t("topic.groupGone", { name }),
        isForced || hasFiles || own.lateAllowedUntil !== null ? undefined : () => undo.mutate(),
      );
      await refreshTopics(cache);
      requestAnimationFrame(focus);
    },
    // Submissions of the group would be deleted too, so this asks for confirmation.
    onError: (problem) =>
      problem instanceof Problem && problem.code === "HAS_SUBMISSION" ? setOpen("gone") : toast(errorText(problem)),
  });
  const actions: MenuAction[] = [
    { id: "time", name: t("topic.moreTime"), onAction: () => setOpen("time") },
    { id: "publish", name: t("topic.publishFor", { name }), onAction: () => setOpen("publish") },
    {
      id: "gone",
      name: t("topic.removeGroup"),
      isDanger: true,
      onAction: () => (hasFiles ? setOpen("gone") : remove.mutate(false)),
    },
  ];
  return (
    <li
      ref={row}
      className={`hover:bg-accent-soft/40 flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 py-1 ps-4 sm:ps-5 ${isLocked ? "pe-4 sm:pe-5" : "pe-1"}`}
    >
      <Link
        to="/groups/$groupId"
        params={{ groupId: own.groupId }}
        className="text-ink inline-flex min-h-9 min-w-28 items-center"
      >
        <GroupName group={own.group} />
      </Link>
      <span className="me-auto">
        {details ? (
          <Avatars
            label={t("courses.membersOf", { group: name })}
            people={details.members.map((member) => member.user)}
          />
        ) : null}
      </span>
      {own.descriptionOverride && !topic.isShared ? (
        <span className="text-soft text-note">{t("topic.ownText")}</span>
      ) : null}
      {hasException(own) ? <PublicationChip topic={own} /> : null}
      {hasException(own) &&
      publicationState(own, now) === "published" &&
      publicationState(topic, now) !== "published" ? (
        <span className="text-soft text-note">{t("topic.visibleForGroup")}</span>
      ) : null}
      {own.lateAllowedUntil === null ? null : (
        <span className="text-soft text-note">
          {t("topic.until")} <Time at={own.lateAllowedUntil} />
        </span>
      )}
      <span className="ms-auto flex items-center gap-x-3">
        <WorkChip
          facts={{
            status: own.status,
            isLate: own.currentSubmission?.isLate ?? false,
            deadline: own.lateAllowedUntil ?? topic.deadline,
            isFinished: topic.status === "FINISHED",
          }}
          now={now}
        />
        {isLocked ? null : (
          <span className="reveal">
            <OverflowMenu label={name} actions={actions} isPending={remove.isPending} />
          </span>
        )}
      </span>
      {open === "time" ? (
        <Dialog title={t("topic.moreTimeFor", { name })} isOpen onOpenChange={() => setOpen(undefined)}>
          {(close) => <ExtendGroupDeadline topic={topic} own={own} close={close} />}
        </Dialog>
      ) : null}
      {open === "publish" ? (
        <Dialog title={t("topic.publishForTitle", { name })} isOpen onOpenChange={() => setOpen(undefined)}>
          {(close) => <PublishForGroup topic={topic} own={own} close={close} />}
        </Dialog>
      ) : null}
      {open === "gone" ? (
        <ConfirmDialog
          title={t("topic.removeGroupTitle", { name })}
          text={own.currentSubmissionId === null ? t("topic.removeGroupFiles") : t("topic.removeGroupText")}
          confirmLabel={t("topic.removeGroup")}
          onConfirm={() => remove.mutate(true)}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
    </li>
  );
}

function ExtendGroupDeadline({ topic, own, close }: { topic: Topic; own: GroupWork; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [until, setUntil] = useState(own.lateAllowedUntil ?? topic.deadline);
  const save = useMutation({
    mutationFn: (lateAllowedUntil: string | null) =>
      unwrap(
        client.PATCH("/assignments/{id}/groups/{groupId}", {
          params: { path: { id: topic.id, groupId: own.groupId } },
          body: { lateAllowedUntil },
        }),
      ),
    onSuccess: async () => {
      await refreshTopics(cache);
      close();
    },
  });
  return (
    <>
      <p>{t("topic.moreTimeText")}</p>
      <DateTimeField
        label={t("topic.moreTimeUntil")}
        value={until}
        onChange={(value) => value !== null && setUntil(value)}
      />
      {save.isError ? <ErrorMessage problem={save.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        {own.lateAllowedUntil === null ? null : (
          <Button onPress={() => save.mutate(null)}>{t("topic.noMoreTime")}</Button>
        )}
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" isPending={save.isPending} onPress={() => save.mutate(until)}>
          {t("app.save")}
        </Button>
      </p>
    </>
  );
}

/** The exception of one group from the publication of the topic. */
function PublishForGroup({ topic, own, close }: { topic: Topic; own: GroupWork; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const state = publicationState(own, useNow(30_000));
  const [choice, setChoice] = useState<"same" | "now" | "draft" | "later">(
    hasException(own) ? (state === "draft" ? "draft" : state === "scheduled" ? "later" : "now") : "same",
  );
  const [from, setFrom] = useState(state === "scheduled" ? (own.publishAt ?? null) : null);
  const save = useMutation({
    mutationFn: () =>
      unwrap(
        client.PATCH("/assignments/{id}/groups/{groupId}", {
          params: { path: { id: topic.id, groupId: own.groupId } },
          // A time that has passed publishes at once; that of the topic does not depend on the clock of this computer.
          body:
            choice === "draft"
              ? { isDraft: true }
              : { isDraft: false, publishAt: choice === "same" ? null : choice === "now" ? topic.createdAt : from },
        }),
      ),
    onSuccess: async () => {
      await refreshTopics(cache);
      close();
    },
  });
  return (
    <>
      <RadioGroup
        label={t("topic.publish")}
        value={choice}
        onChange={setChoice}
        options={[
          { id: "same", name: t("topic.publishSame") },
          { id: "now", name: t("topic.publishGroupNow") },
          { id: "draft", name: t("topic.publishGroupDraft") },
          { id: "later", name: t("topic.publishGroupLater") },
        ]}
      />
      {choice === "later" ? (
        <DateTimeField
          label={t("topic.publishAt")}
          value={from}
          onChange={setFrom}
          problem={fieldError(save.error, "publishAt")}
        />
      ) : null}
      {save.isError && !(save.error instanceof Problem && save.error.status === 400) ? (
        <ErrorMessage problem={save.error} />
      ) : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button
          kind="main"
          isDisabled={choice === "later" && from === null}
          isPending={save.isPending}
          onPress={() => save.mutate()}
        >
          {t("app.save")}
        </Button>
      </p>
    </>
  );
}

function AddGroups({ topic, close }: { topic: Topic; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const groups = useQuery(classGroupsQuery(topic.classId));
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const assignedIds = new Set(topic.groupAssignments.map((own) => own.groupId));
  // Groups of other courses cannot work on this topic; a group without a course joins the course.
  const eligible = (groups.data ?? []).filter(
    (group) => !assignedIds.has(group.id) && (group.courseId === topic.courseId || group.courseId === null),
  );
  const add = useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/assignments/{id}/groups", {
          params: { path: { id: topic.id } },
          body: { groupIds: [...chosen] },
        }),
      ),
    onSuccess: async () => {
      await refreshTopics(cache);
      close();
    },
  });
  return (
    <>
      {groups.isError ? <ErrorMessage problem={groups.error} onRetry={() => void groups.refetch()} /> : null}
      {groups.isSuccess && eligible.length === 0 ? <p>{t("topic.allOn")}</p> : null}
      <fieldset aria-label={t("topic.addGroupsTitle")} className="max-h-[50vh] overflow-y-auto ps-1">
        {eligible.length > 1 ? (
          <Checkbox
            isSelected={chosen.length === eligible.length}
            isIndeterminate={chosen.length > 0 && chosen.length < eligible.length}
            onChange={(all) => setChosen(all ? eligible.map((group) => group.id) : [])}
          >
            {t("topic.allGroups")}
          </Checkbox>
        ) : null}
        {eligible.map((group) => (
          <Checkbox
            key={group.id}
            isSelected={chosen.includes(group.id)}
            onChange={(isChosen) =>
              setChosen(isChosen ? [...chosen, group.id] : chosen.filter((id) => id !== group.id))
            }
          >
            {groupName(group)}
          </Checkbox>
        ))}
      </fieldset>
      {add.isError ? <ErrorMessage problem={add.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" isDisabled={chosen.length === 0} isPending={add.isPending} onPress={() => add.mutate()}>
          {t("topic.add", { count: chosen.length })}
        </Button>
      </p>
    </>
  );
}
