import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouteContext } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { RestorableNote } from "../deletions/RestorableNote";
import { useUndo } from "../deletions/deletions";
import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { isAdmin } from "../../auth/session";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { lazyPart } from "../../components/lazyPart";
import type { Class } from "./classes";
import { ClassDialog } from "./ClassDialog";

const CopyDialog = lazyPart(async () => (await import("../copies/CopyDialog")).CopyDialog);

/** Actions on a class: edit, copy for the next school year, archive; administrators delete it. */
export function ClassMenu({ schoolClass }: { schoolClass: Class }) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const [open, setOpen] = useState<"change" | "copy" | "delete">();
  const status = useClassStatus(schoolClass);
  const close = () => setOpen(undefined);
  const isOld = schoolClass.status === "ARCHIVED";
  return (
    <>
      <OverflowMenu
        label={schoolClass.name}
        isPending={status.isPending}
        actions={[
          ...(isOld ? [] : [{ id: "change", name: t("classes.changeIt"), onAction: () => setOpen("change") }]),
          { id: "copy", name: t("classes.clone"), onAction: () => setOpen("copy") },
          isOld
            ? { id: "activate", name: t("classes.activate"), onAction: () => status.set("ACTIVE") }
            : { id: "archive", name: t("classes.archive"), onAction: () => status.set("ARCHIVED") },
          ...(isAdmin(person)
            ? [{ id: "delete", name: t("classes.delete"), isDanger: true, onAction: () => setOpen("delete") }]
            : []),
        ]}
      />
      {open === "change" ? <ClassDialog schoolClass={schoolClass} onClose={close} /> : null}
      {open === "copy" ? (
        <Suspense>
          <CopyDialog source={{ kind: "class", schoolClass }} onClose={close} />
        </Suspense>
      ) : null}
      {open === "delete" ? <DeleteClassDialog schoolClass={schoolClass} onClose={close} /> : null}
    </>
  );
}

/** Archives or reactivates a class, or publishes a draft; can be undone. */
export function useClassStatus(schoolClass: Class) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const before = schoolClass.status;
  const change = useMutation({
    mutationFn: (status: Class["status"]) =>
      unwrap(client.PATCH("/classes/{id}", { params: { path: { id: schoolClass.id } }, body: { status } })),
    onSuccess: (_saved, status) => {
      // An archived class cannot become a draft again.
      const undo = before === "DRAFT" && status === "ARCHIVED" ? undefined : before;
      toast(
        t(`classes.now.${status}`, { name: schoolClass.name }),
        undo === undefined || undo === status ? undefined : () => change.mutate(undo),
      );
    },
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => invalidate(cache, "classes", "courses"),
  });
  return { set: change.mutate, isPending: change.isPending };
}

/** Confirms deleting a class by typing its name, after the service has counted what is deleted with it. */
function DeleteClassDialog({ schoolClass, onClose }: { schoolClass: Class; onClose: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const undo = useUndo();
  const path = { id: schoolClass.id };
  const counted = useQuery({
    queryKey: queryKeys.removal.ofClass(schoolClass.id),
    queryFn: () => unwrap(client.DELETE("/classes/{id}", { params: { path, query: { dryRun: "1", force: "1" } } })),
    gcTime: 0,
    staleTime: 0,
  });
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/classes/{id}", { params: { path, query: { force: "1" } } })),
    onSuccess: async (deleted) => {
      toast(t("classes.deleted", { name: schoolClass.name }), undo(deleted, schoolClass.name));
      await navigate({ to: "/courses" });
      cache.removeQueries({ queryKey: queryKeys.classes.one(schoolClass.id) });
      await invalidate(cache, "classes", "courses", "groups", "assignments");
    },
    onError: (problem) => toast(errorText(problem)),
  });
  const { error } = counted;
  useEffect(() => {
    if (error === null) return;
    toast(errorText(error));
    onClose();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- shown once per error
  }, [error]);
  if (!counted.data) return null;
  const deletedItems = counted.data.deleted;
  return (
    <ConfirmDialog
      title={t("classes.deleteTitle", { name: schoolClass.name })}
      text={
        <>
          <p>{t("classes.deleteText")}</p>
          <ul className="list-disc ps-6">
            <li>{t("classes.courses", { count: deletedItems.courses })}</li>
            <li>{t("courses.groups", { count: deletedItems.groups })}</li>
            <li>{t("courses.topics", { count: deletedItems.assignments })}</li>
            <li>{t("courses.documents", { count: deletedItems.documents })}</li>
          </ul>
          <RestorableNote until={counted.data.restorableUntil} />
        </>
      }
      requiredText={schoolClass.name}
      confirmLabel={t("classes.deleteYes")}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
