import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { RestorableNote } from "../deletions/RestorableNote";
import { useUndo } from "../deletions/deletions";
import { client, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { keepFocusNear } from "../../hooks/keepFocusNear";
import { useErrorText } from "../../i18n/useErrorText";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { AddMembersDialog } from "../groups/AddMembersDialog";
import { GroupDialog } from "../groups/GroupDialog";
import type { ListedGroup } from "../groups/groups";
import { refreshGroups } from "../groups/useMembers";
import { nameOf, numberedName } from "../lesson/groupNames";

/** The actions on a group. Shown on hover and focus, always on touch screens and in the edit mode. */
export function GroupMenu({
  group,
  groups,
  isShown,
}: {
  group: ListedGroup;
  groups: readonly ListedGroup[];
  isShown: boolean;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const undo = useUndo();
  const row = useRef<HTMLSpanElement>(null);
  const [open, setOpen] = useState<"add" | "change" | "delete">();
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/groups/{id}", { params: { path: { id: group.id }, query: {} } })),
    onMutate: () => keepFocusNear(row.current),
    onSuccess: async (gone, _, focus) => {
      toast(
        t("courses.groupDeleted", {
          name: numberedName(group),
          documents: t("courses.documents", { count: gone.deletedDocuments }),
        }),
        undo(gone, numberedName(group)),
      );
      await refreshGroups(cache);
      focus();
    },
    onError: (problem) => toast(errorText(problem)),
  });
  const close = () => setOpen(undefined);
  return (
    <span ref={row} className={isShown ? "" : "reveal"}>
      <OverflowMenu
        label={numberedName(group)}
        isPending={remove.isPending}
        actions={[
          { id: "add", name: t("courses.addStudents"), onAction: () => setOpen("add") },
          { id: "change", name: t("courses.changeIt"), onAction: () => setOpen("change") },
          { id: "delete", name: t("courses.delete"), isDanger: true, onAction: () => setOpen("delete") },
        ]}
      />
      {open === "add" ? <AddMembersDialog group={group} groups={groups} onClose={close} /> : null}
      {open === "change" ? (
        <GroupDialog group={group} classId={group.classId} courseId={group.courseId} onClose={close} />
      ) : null}
      {open === "delete" ? <DeleteGroupDialog group={group} onConfirm={() => remove.mutate()} onClose={close} /> : null}
    </span>
  );
}

function DeleteGroupDialog({
  group,
  onConfirm,
  onClose,
}: {
  group: ListedGroup;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const counted = useQuery({
    queryKey: queryKeys.removal.ofGroup(group.id),
    queryFn: () =>
      unwrap(client.DELETE("/groups/{id}", { params: { path: { id: group.id }, query: { dryRun: "1" } } })),
    gcTime: 0,
    staleTime: 0,
  });
  return (
    <ConfirmDialog
      title={t("courses.deleteGroupTitle", { name: numberedName(group) })}
      text={
        <>
          <p>{t("courses.deleteGroupText")}</p>
          {counted.data ? <RestorableNote until={counted.data.restorableUntil} /> : null}
        </>
      }
      confirmLabel={t("courses.deleteGroupYes")}
      {...(group.groupAssignments.length > 0 ? { requiredText: nameOf(group) } : {})}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}
