import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { RestorableNote } from "../deletions/RestorableNote";
import { useUndo } from "../deletions/deletions";
import { client, unwrap } from "../../api/client";
import { keepFocusNear } from "../../hooks/keepFocusNear";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { lazyPart } from "../../components/lazyPart";
import { toast } from "../../components/base/toast";
import type { Course } from "./courses";
import { CourseDialog } from "./CourseDialog";

const CopyDialog = lazyPart(async () => (await import("../copies/CopyDialog")).CopyDialog);

/** Actions on a course: edit, move, copy, archive, delete. */
export function CourseMenu({ course, onDeleted }: { course: Course; onDeleted?: () => void }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"change" | "copy" | "delete">();
  const here = useRef<HTMLSpanElement>(null);
  const status = useCourseStatus(course);
  const remove = useDeleteCourse(course, onDeleted);
  const close = () => setOpen(undefined);
  return (
    <span ref={here}>
      <OverflowMenu
        label={course.name}
        isPending={remove.isPending || status.isPending}
        actions={[
          { id: "change", name: t("courses.rename"), onAction: () => setOpen("change") },
          { id: "copy", name: t("copies.open"), onAction: () => setOpen("copy") },
          course.status === "ACTIVE"
            ? { id: "archive", name: t("courses.archive"), onAction: () => status.set("ARCHIVED") }
            : { id: "activate", name: t("courses.activate"), onAction: () => status.set("ACTIVE") },
          { id: "delete", name: t("courses.delete"), isDanger: true, onAction: () => setOpen("delete") },
        ]}
      />
      {open === "change" ? <CourseDialog course={course} onClose={close} /> : null}
      {open === "copy" ? (
        <Suspense>
          <CopyDialog source={{ kind: "course", course }} onClose={close} />
        </Suspense>
      ) : null}
      {open === "delete" ? (
        <ConfirmDeleteCourse
          course={course}
          onClose={close}
          onConfirm={() => {
            const focus = keepFocusNear(here.current);
            void remove.mutateAsync().then(onDeleted ? () => undefined : focus, () => undefined);
          }}
        />
      ) : null}
    </span>
  );
}

/** Archives or reactivates a course; can be undone. */
export function useCourseStatus(course: Course) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: (status: Course["status"]) =>
      unwrap(client.PATCH("/courses/{id}", { params: { path: { id: course.id } }, body: { status } })),
    onSuccess: (_saved, status) => {
      const undo = status === "ARCHIVED" ? "ACTIVE" : "ARCHIVED";
      toast(t(`courses.now.${status}`, { name: course.name }), () => change.mutate(undo));
    },
    onError: (problem) => toast(errorText(problem)),
    onSettled: () => invalidate(cache, "courses"),
  });
  return { set: change.mutate, isPending: change.isPending };
}

function useDeleteCourse(course: Course, onGone: (() => void) | undefined) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const undo = useUndo();
  return useMutation({
    mutationFn: () => unwrap(client.DELETE("/courses/{id}", { params: { path: { id: course.id }, query: {} } })),
    onSuccess: async (deleted) => {
      toast(t("courses.deleted", { name: course.name }), undo(deleted, course.name));
      // Leaves the page of the course before the refetch would request the deleted course.
      onGone?.();
      cache.removeQueries({ queryKey: queryKeys.courses.one(course.id) });
      await invalidate(cache, "courses", "classes", "groups", "assignments");
    },
    onError: (problem) => toast(errorText(problem)),
  });
}

/** Confirms deleting a course by typing its name, after the service has counted what is deleted with it. */
function ConfirmDeleteCourse({
  course,
  onClose,
  onConfirm,
}: {
  course: Course;
  onClose: () => void;
  onConfirm: () => void;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const counted = useQuery({
    queryKey: queryKeys.removal.ofCourse(course.id),
    queryFn: () =>
      unwrap(client.DELETE("/courses/{id}", { params: { path: { id: course.id }, query: { dryRun: "1" } } })),
    gcTime: 0,
    staleTime: 0,
  });
  const { error } = counted;
  useEffect(() => {
    if (error === null) return;
    toast(errorText(error));
    onClose();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- shown once per error
  }, [error]);
  if (!counted.data) return null;
  const deletedItems = counted.data;
  return (
    <ConfirmDialog
      title={t("courses.deleteTitle", { name: course.name })}
      text={
        <>
          <p>{t("courses.deleteText")}</p>
          <ul className="list-disc ps-6">
            <li>{t("courses.groups", { count: deletedItems.deletedGroups.length })}</li>
            <li>{t("courses.topics", { count: deletedItems.deletedAssignments.length })}</li>
            <li>{t("courses.documents", { count: deletedItems.deletedDocuments })}</li>
            <li>{t("courses.submissions", { count: deletedItems.deletedSubmissions })}</li>
          </ul>
          <RestorableNote until={deletedItems.restorableUntil} />
        </>
      }
      requiredText={course.name}
      confirmLabel={t("courses.deleteYes")}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}
