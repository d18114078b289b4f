import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { neighbour } from "../lib/focus";
import { useSay } from "../lib/problems";
import { invalidate, queryKeys } from "../lib/queryKeys";
import { Asked } from "../ui/Ask";
import { More } from "../ui/More";
import { note } from "../ui/notes";
import type { Course } from "./courses";
import { CourseWindow } from "./CourseWindow";

/** What can be done with a course: other words or another place, archive, delete. */
export function CourseMenu({ course, onGone }: { course: Course; onGone?: () => void }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"change" | "delete">();
  const here = useRef<HTMLSpanElement>(null);
  const status = useStatus(course);
  const remove = useRemove(course, onGone);
  const close = () => setOpen(undefined);
  return (
    <span ref={here}>
      <More
        label={course.name}
        isPending={remove.isPending || status.isPending}
        deeds={[
          { id: "change", name: t("courses.rename"), onAction: () => setOpen("change") },
          course.status === "ACTIVE"
            ? { id: "archive", name: t("courses.archive"), onAction: () => status.set("ARCHIVED") }
            : { id: "activate", name: t("courses.activate"), onAction: () => status.set("ACTIVE") },
          { id: "delete", name: t("courses.delete"), isDanger: true, onAction: () => setOpen("delete") },
        ]}
      />
      {open === "change" ? <CourseWindow course={course} onClose={close} /> : null}
      {open === "delete" ? (
        <AskRemoval
          course={course}
          onClose={close}
          onYes={() => {
            const focus = neighbour(here.current);
            void remove.mutateAsync().then(onGone ? () => undefined : focus, () => undefined);
          }}
        />
      ) : null}
    </span>
  );
}

/** Archives a course or makes it active again, and offers the way back. */
export function useStatus(course: Course) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: (status: Course["status"]) => data(client.PATCH("/courses/{id}", { params: { path: { id: course.id } }, body: { status } })),
    onSuccess: (_saved, status) => {
      const back = status === "ARCHIVED" ? "ACTIVE" : "ARCHIVED";
      note(t(`courses.now.${status}`, { name: course.name }), () => change.mutate(back));
    },
    onError: (problem) => note(say(problem)),
    onSettled: () => invalidate(cache, "courses"),
  });
  return { set: change.mutate, isPending: change.isPending };
}

function useRemove(course: Course, onGone: (() => void) | undefined) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: () => data(client.DELETE("/courses/{id}", { params: { path: { id: course.id }, query: {} } })),
    onSuccess: async () => {
      note(t("courses.deleted", { name: course.name }));
      // Whoever stands in the course leaves before it is asked for again.
      onGone?.();
      cache.removeQueries({ queryKey: queryKeys.courses.one(course.id) });
      await invalidate(cache, "courses", "classes", "groups", "assignments");
    },
    onError: (problem) => note(say(problem)),
  });
}

/** Asks for the name before a course goes, after the service has counted what goes with it. */
function AskRemoval({ course, onClose, onYes }: { course: Course; onClose: () => void; onYes: () => void }) {
  const { t } = useTranslation();
  const say = useSay();
  const counted = useQuery({
    queryKey: queryKeys.removal.ofCourse(course.id),
    queryFn: () => data(client.DELETE("/courses/{id}", { params: { path: { id: course.id }, query: { dryRun: "1" } } })),
    gcTime: 0,
    staleTime: 0,
  });
  const { error } = counted;
  useEffect(() => {
    if (error === null) return;
    note(say(error));
    onClose();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- said once for each problem
  }, [error]);
  if (!counted.data) return null;
  const goes = counted.data;
  return (
    <Asked
      title={t("courses.deleteTitle", { name: course.name })}
      text={
        <>
          <p>{t("courses.deleteText")}</p>
          <ul className="list-disc ps-6">
            <li>{t("courses.groups", { count: goes.deletedGroups.length })}</li>
            <li>{t("courses.topics", { count: goes.deletedAssignments.length })}</li>
            <li>{t("courses.documents", { count: goes.deletedDocuments })}</li>
            <li>{t("courses.submissions", { count: goes.deletedSubmissions })}</li>
          </ul>
        </>
      }
      typed={course.name}
      yes={t("courses.deleteYes")}
      onYes={onYes}
      onClose={onClose}
    />
  );
}
