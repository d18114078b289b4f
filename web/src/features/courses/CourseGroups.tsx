import { Link } from "@tanstack/react-router";
import { Mail, Move, Plus } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { foldCase } from "../../i18n/names";
import { keepFocusNear } from "../../hooks/keepFocusNear";
import { useNow } from "../../hooks/serverClock";
import { useTime } from "../../i18n/time";
import { Button } from "../../components/Button";
import { Avatar } from "../../components/base/Avatar";
import { EmptyState } from "../../components/base/EmptyState";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { personColors } from "../../components/base/people";
import { StateChip } from "../../components/base/StateChip";
import { useLongList } from "../../components/LongList";
import { SearchField } from "../../components/SearchField";
import { Segmented } from "../../components/Segmented";
import { Select } from "../../forms/Select";
import type { ListedAssignment, ListedGroup } from "../groups/groups";
import { GroupDialog } from "../groups/GroupDialog";
import { useMembers } from "../groups/useMembers";
import { GroupName } from "../lesson/GroupName";
import { numberedName } from "../lesson/groupNames";
import { WorkChip } from "../lesson/WorkChip";
import { GroupMenu } from "./GroupMenu";

export const GROUP_FILTERS = ["all", "help", "open", "unread"] as const;
export type GroupFilter = (typeof GROUP_FILTERS)[number];

interface Props {
  groups: readonly ListedGroup[];
  topics: readonly ListedAssignment[];
  classId: string;
  courseId: string;
  /** Whether groups can be added. */
  canAdd: boolean;
  /** Whether anything can be changed. */
  canChange: boolean;
  /** Link to the group maker. */
  toDivide: React.ReactNode;
}

/** The groups of a course: their members, their work on one topic, and unread messages. Members are moved in the edit mode. */
export function CourseGroups({ groups, topics, classId, courseId, canAdd, canChange, toDivide }: Props) {
  const { t } = useTranslation();
  const [isCreating, setCreating] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const [search, setSearch] = useState("");
  const [filter, setFilter] = useState<GroupFilter>("all");
  const [topicId, setTopicId] = useState<string>();
  const sorted = topics.toSorted((one, other) => one.deadline.localeCompare(other.deadline));
  const topic =
    sorted.find((one) => one.id === topicId) ?? sorted.find((one) => one.status === "ACTIVE") ?? sorted.at(-1);
  const workOf = (group: ListedGroup) => group.groupAssignments.find((own) => own.assignmentId === topic?.id);
  const matches: Record<GroupFilter, (group: ListedGroup) => boolean> = {
    all: () => true,
    help: (group) => group.needsHelp && group.helpWithdrawnAt === null,
    open: (group) => ["NOT_STARTED", "IN_PROGRESS", "RETURNED"].includes(workOf(group)?.status ?? ""),
    unread: (group) => group.unreadMessages > 0,
  };
  const wanted = foldCase(search);
  const found = groups.filter(
    (group) =>
      matches[filter](group) &&
      [numberedName(group), ...group.members.map((member) => member.user.name)].some((text) =>
        foldCase(text).includes(wanted),
      ),
  );
  const { shown, rest } = useLongList(`groups:${courseId}:${filter}:${wanted}`, found);
  const dialog = isCreating ? (
    <GroupDialog classId={classId} courseId={courseId} onClose={() => setCreating(false)} />
  ) : null;
  const newGroup = canAdd ? (
    <Button onPress={() => setCreating(true)}>
      <Plus aria-hidden="true" className="size-4.5" />
      {t("courses.newGroup")}
    </Button>
  ) : null;
  if (groups.length === 0) {
    return (
      <EmptyState
        action={
          canAdd ? (
            <>
              {toDivide}
              {newGroup}
            </>
          ) : undefined
        }
        hint={canAdd ? t("courses.noGroupsHint") : undefined}
      >
        {t("courses.noGroups")}
        {dialog}
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <SearchField label={t("courses.findGroup")} value={search} onChange={setSearch} />
        <Segmented
          label={t("courses.show")}
          value={filter}
          onChange={setFilter}
          options={GROUP_FILTERS.map((id) => ({
            id,
            name: t(`courses.filter.${id}`),
            count: groups.filter(matches[id]).length,
          }))}
        />
        <span className="ms-auto flex flex-wrap gap-2">
          {newGroup}
          {canChange ? (
            <Button kind={isEditing ? "main" : "plain"} onPress={() => setEditing(!isEditing)}>
              {isEditing ? (
                t("courses.editDone")
              ) : (
                <>
                  <Move aria-hidden="true" className="size-4.5" />
                  {t("courses.editGroups")}
                </>
              )}
            </Button>
          ) : null}
        </span>
      </div>
      <div className="bg-sheet border-faint rounded-xl border shadow-xs">
        <div className={`${ROW} text-soft text-note border-faint hidden border-b py-1 font-medium lg:grid`}>
          <span>{t("courses.group")}</span>
          <span>{isEditing ? t("courses.dragHint") : t("courses.members")}</span>
          <span>
            {topic && sorted.length > 1 ? (
              <Select
                label={t("courses.stateOf")}
                isLabelHidden
                options={sorted.map((one) => ({ id: one.id, name: one.title }))}
                value={topic.id}
                onChange={setTopicId}
              />
            ) : (
              topic?.title
            )}
          </span>
          <span>{t("courses.chat")}</span>
          <span />
        </div>
        <ul aria-label={t("courses.groupsTab")} className="divide-faint divide-y">
          {shown.map((group) => (
            <GroupRow
              key={group.id}
              group={group}
              groups={groups}
              topic={topic}
              canChange={canChange}
              isEditing={isEditing}
            />
          ))}
        </ul>
        {found.length === 0 ? <p className="text-soft p-4">{t("courses.noGroupFound")}</p> : null}
        {rest}
      </div>
      {dialog}
    </div>
  );
}

const ROW =
  "px-4 lg:grid lg:grid-cols-[minmax(9rem,13rem)_minmax(0,1fr)_minmax(11rem,15rem)_3.5rem_2.5rem] lg:items-center lg:gap-4";
const DRAG_TYPE = "text/x-groupwork-member";

/** A member on the way to another group. The data of a drag can be read only when it ends. */
let dragged: { from: ListedGroup; person: { id: string; name: string } } | undefined;

interface RowProps {
  group: ListedGroup;
  groups: readonly ListedGroup[];
  topic: ListedAssignment | undefined;
  canChange: boolean;
  isEditing: boolean;
}

function GroupRow({ group, groups, topic, canChange, isEditing }: RowProps) {
  const { t } = useTranslation();
  const { move } = useMembers();
  const [isTarget, setTarget] = useState(false);
  const colors = personColors(group.members.map((member) => member.userId));
  const accepts = (event: DragEvent) => event.dataTransfer.types.includes(DRAG_TYPE) && dragged?.from.id !== group.id;
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setTarget(false);
    if (dragged && dragged.from.id !== group.id) move.mutate({ from: dragged.from, to: group, person: dragged.person });
  };
  const drop = isEditing
    ? {
        onDragOver: (event: DragEvent) => {
          if (!accepts(event)) return;
          event.preventDefault();
          setTarget(true);
        },
        onDragLeave: () => setTarget(false),
        onDrop,
      }
    : {};
  return (
    <li
      {...drop}
      className={`${ROW} relative flex min-h-11 flex-wrap items-center gap-x-2 gap-y-1 py-1.5 lg:py-1 ${isTarget ? "bg-accent-soft" : "hover:bg-accent-soft/40"}`}
    >
      <Link to="/groups/$groupId" params={{ groupId: group.id }} className="text-ink min-w-0 grow basis-28 py-1">
        <GroupName group={group} />
      </Link>
      <ul
        aria-label={t("courses.membersOf", { group: numberedName(group) })}
        className="order-last flex basis-full flex-wrap items-center gap-x-3 gap-y-1 text-sm lg:order-none"
      >
        {group.members.length === 0 ? <li className="text-soft">{t("courses.noMembers")}</li> : null}
        {group.members.map((member) => (
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- dragging is an addition to the menu
          <li
            key={member.userId}
            className="flex items-center"
            draggable={isEditing}
            onDragStart={(event) => {
              dragged = { from: group, person: member.user };
              event.dataTransfer.setData(DRAG_TYPE, member.userId);
              event.dataTransfer.effectAllowed = "move";
            }}
          >
            {isEditing ? (
              <MemberMenu group={group} groups={groups} person={member.user}>
                <Avatar name={member.user.name} color={colors.get(member.userId) ?? 0} />
                <span className="min-w-0 wrap-break-word">{member.user.name}</span>
              </MemberMenu>
            ) : (
              <span className="inline-flex items-center gap-1.5">
                <Avatar name={member.user.name} color={colors.get(member.userId) ?? 0} />
                {member.user.name}
              </span>
            )}
          </li>
        ))}
      </ul>
      <span className="flex flex-wrap items-center gap-1.5 empty:max-lg:hidden">
        <GroupState group={group} topic={topic} />
      </span>
      <span className="empty:max-lg:hidden">
        {group.unreadMessages > 0 ? (
          <Link
            to="/groups/$groupId"
            params={{ groupId: group.id }}
            search={{ place: "chat" }}
            aria-label={t("courses.unreadIn", { count: group.unreadMessages, group: numberedName(group) })}
            className="inline-flex min-h-8 items-center gap-1.5 font-medium"
          >
            <Mail aria-hidden="true" className="size-4" />
            {group.unreadMessages}
          </Link>
        ) : null}
      </span>
      <span className="-me-2.5 empty:max-lg:hidden">
        {canChange ? <GroupMenu group={group} groups={groups} isShown={isEditing} /> : null}
      </span>
    </li>
  );
}

/** The call for help, then the state of the group's work; or until when the group is hidden. */
function GroupState({ group, topic }: { group: ListedGroup; topic: ListedAssignment | undefined }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const now = useNow(30_000);
  const own = group.groupAssignments.find((one) => one.assignmentId === topic?.id);
  const hidden = group.startDate !== null && Date.parse(group.startDate) > now ? group.startDate : undefined;
  const waits =
    group.helpRequestedAt === null ? 0 : Math.max(0, Math.floor((now - Date.parse(group.helpRequestedAt)) / 60_000));
  return (
    <>
      {group.needsHelp && group.helpWithdrawnAt === null ? (
        <StateChip state="help">
          <span className="sr-only">{t("courses.needsHelp")} </span>
          {t("courses.waitsMinutes", { count: waits })}
        </StateChip>
      ) : null}
      {hidden === undefined ? null : (
        <>
          <StateChip state="later">{t("state.LATER")}</StateChip>
          <span className="text-soft text-note">{t("courses.hiddenUntil", { when: moment(hidden) })}</span>
        </>
      )}
      {own && hidden === undefined ? (
        <WorkChip
          facts={{
            status: own.status,
            isLate: own.currentSubmission?.isLate ?? false,
            deadline: own.lateAllowedUntil ?? own.assignment.deadline,
            isFinished: own.assignment.status === "FINISHED",
          }}
          now={now}
        />
      ) : null}
      {own?.status === "SUBMITTED" && own.currentSubmission ? (
        <span className="text-soft text-note">{moment(own.currentSubmission.submittedAt)}</span>
      ) : null}
    </>
  );
}

/** Moves a student to another group or removes them. With `children`, these are the button. */
export function MemberMenu({
  group,
  groups,
  person,
  children,
}: {
  group: ListedGroup | undefined;
  groups: readonly ListedGroup[];
  person: { id: string; name: string };
  children?: React.ReactNode;
}) {
  const { t } = useTranslation();
  const { add, remove, move } = useMembers();
  const row = useRef<HTMLSpanElement>(null);
  const thenFocus = (change: Promise<unknown>) => {
    const focus = keepFocusNear(row.current);
    void change.then(focus, () => undefined);
  };
  const moveTo = (to: ListedGroup) =>
    thenFocus(group ? move.mutateAsync({ from: group, to, person }) : add.mutateAsync({ group: to, people: [person] }));
  return (
    <span ref={row}>
      <OverflowMenu
        label={person.name}
        isChip
        isPending={add.isPending || remove.isPending || move.isPending}
        actions={() => [
          ...(group
            ? [
                {
                  id: "remove",
                  name: t("courses.removeFrom"),
                  onAction: () => thenFocus(remove.mutateAsync({ group, person })),
                },
              ]
            : []),
          ...groups
            .filter((other) => other.id !== group?.id)
            .map((other) => ({
              id: other.id,
              name: t("courses.moveTo", { group: numberedName(other) }),
              onAction: () => moveTo(other),
            })),
        ]}
      >
        {children}
      </OverflowMenu>
    </span>
  );
}
