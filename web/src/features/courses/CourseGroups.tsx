import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock, Hand, UserPlus } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { keepFocusNear } from "../../hooks/keepFocusNear";
import type { ListedGroup } from "../groups/groups";
import { useErrorText } from "../../i18n/useErrorText";
import { useTime } from "../../i18n/time";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { EmptyState } from "../../components/base/EmptyState";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { AddMembersDialog } from "../groups/AddMembersDialog";
import { AddFile, FileList } from "./CourseFiles";
import { GroupDialog } from "../groups/GroupDialog";
import { refreshGroups, useMembers } from "../groups/useMembers";
import { numberedName } from "../lesson/groupNames";

interface Props {
  groups: readonly ListedGroup[];
  classId: string;
  courseId: string;
  /** Whether groups can be added. */
  canAdd: boolean;
  /** Whether anything can be changed. */
  canChange: boolean;
  /** Link to the group maker. */
  toDivide: React.ReactNode;
}

/** The groups of a course with their members and files. */
export function CourseGroups({ groups, classId, courseId, canAdd, canChange, toDivide }: Props) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="flex flex-col gap-3">
      {canAdd ? (
        <span>
          <Button onPress={() => setIsOpen(true)}>{t("courses.newGroup")}</Button>
        </span>
      ) : null}
      {groups.length === 0 ? (
        <EmptyState action={canAdd ? toDivide : undefined}>{t("courses.noGroups")}</EmptyState>
      ) : null}
      <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
        {groups.map((group) => (
          <CourseGroupRow key={group.id} group={group} groups={groups} canChange={canChange} />
        ))}
      </ul>
      {isOpen ? <GroupDialog classId={classId} courseId={courseId} onClose={() => setIsOpen(false)} /> : null}
    </div>
  );
}

function CourseGroupRow({
  group,
  groups,
  canChange,
}: {
  group: ListedGroup;
  groups: readonly ListedGroup[];
  canChange: boolean;
}) {
  const { t } = useTranslation();
  const [isAdding, setIsAdding] = useState(false);
  return (
    <li className="bg-sheet border-faint flex flex-col gap-2 rounded-xl border p-3 shadow-sm">
      <div className="flex items-start gap-2">
        <h2 className="min-w-0 grow py-2 text-base wrap-break-word">
          <Link to="/groups/$groupId" params={{ groupId: group.id }}>
            {numberedName(group)}
          </Link>
        </h2>
        {canChange ? <GroupMenu group={group} /> : null}
      </div>
      <GroupBadges group={group} />
      {group.members.length === 0 ? <p className="text-soft text-sm">{t("courses.noMembers")}</p> : null}
      <ul aria-label={t("courses.membersOf", { group: numberedName(group) })} className="flex flex-col">
        {group.members.map((member) => (
          <li key={member.userId} className="flex min-h-11 items-center gap-2">
            <span className="min-w-0 grow wrap-break-word">{member.user.name}</span>
            {canChange ? <MemberMenu group={group} groups={groups} person={member.user} /> : null}
          </li>
        ))}
      </ul>
      <FileList owner={{ kind: "groups", id: group.id }} files={group.attachments} canDelete={canChange} />
      {canChange ? (
        <div className="mt-auto -mb-1 flex flex-wrap gap-1">
          <Button kind="quiet" className="-ms-2 px-2" onPress={() => setIsAdding(true)}>
            <UserPlus aria-hidden="true" className="size-4" />
            <span>
              {t("courses.addStudents")} <span className="sr-only">({numberedName(group)})</span>
            </span>
          </Button>
          <div className="ms-2">
            <AddFile owner={{ kind: "groups", id: group.id }} name={numberedName(group)} />
          </div>
        </div>
      ) : null}
      {isAdding ? <AddMembersDialog group={group} groups={groups} onClose={() => setIsAdding(false)} /> : null}
    </li>
  );
}

/** Badges of a group: hidden, future start date and similar. */
function GroupBadges({ group }: { group: ListedGroup }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const hidden = group.startDate !== null && Date.parse(group.startDate) > serverNow() ? group.startDate : undefined;
  if (!group.needsHelp && hidden === undefined) return null;
  return (
    <span className="flex flex-wrap gap-2">
      {group.needsHelp ? (
        <Badge tone="warn">
          <Hand aria-hidden="true" className="size-4" />
          {t("courses.needsHelp")}
        </Badge>
      ) : null}
      {hidden === undefined ? null : (
        <Badge>
          <Clock aria-hidden="true" className="size-4 shrink-0" />
          {t("courses.hidden", { when: moment(hidden) })}
        </Badge>
      )}
    </span>
  );
}

function GroupMenu({ group }: { group: ListedGroup }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const row = useRef<HTMLSpanElement>(null);
  const [open, setOpen] = useState<"change" | "delete">();
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/groups/{id}", { params: { path: { id: group.id } } })),
    onSuccess: async (gone) => {
      const focus = keepFocusNear(row.current);
      toast(
        t("courses.groupDeleted", {
          name: numberedName(group),
          documents: t("courses.documents", { count: gone.deletedDocuments }),
        }),
      );
      await refreshGroups(cache);
      focus();
    },
    onError: (problem) => toast(errorText(problem)),
  });
  const close = () => setOpen(undefined);
  return (
    <span ref={row}>
      <OverflowMenu
        label={numberedName(group)}
        isPending={remove.isPending}
        actions={[
          { id: "change", name: t("courses.changeIt"), onAction: () => setOpen("change") },
          { id: "delete", name: t("courses.delete"), isDanger: true, onAction: () => setOpen("delete") },
        ]}
      />
      {open === "change" ? (
        <GroupDialog group={group} classId={group.classId} courseId={group.courseId} onClose={close} />
      ) : null}
      {open === "delete" ? (
        <ConfirmDialog
          title={t("courses.deleteGroupTitle", { name: numberedName(group) })}
          text={t("courses.deleteGroupText")}
          confirmLabel={t("courses.deleteGroupYes")}
          {...(group.groupAssignments.length > 0 ? { requiredText: group.displayName ?? group.name } : {})}
          onConfirm={() => remove.mutate()}
          onClose={close}
        />
      ) : null}
    </span>
  );
}

/** Moves a student to another group or removes them. */
export function MemberMenu({
  group,
  groups,
  person,
}: {
  group: ListedGroup | undefined;
  groups: readonly ListedGroup[];
  person: { id: string; name: string };
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
        isPending={add.isPending || remove.isPending || move.isPending}
        actions={[
          ...groups
            .filter((other) => other.id !== group?.id)
            .map((other) => ({
              id: other.id,
              name: t("courses.moveTo", { group: numberedName(other) }),
              onAction: () => moveTo(other),
            })),
          ...(group
            ? [
                {
                  id: "remove",
                  name: t("courses.removeFrom"),
                  onAction: () => thenFocus(remove.mutateAsync({ group, person })),
                },
              ]
            : []),
        ]}
      />
    </span>
  );
}
