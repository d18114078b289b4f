import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouteContext } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { useSay } from "../lib/problems";
import { invalidate, queryKeys } from "../lib/queryKeys";
import { isAdmin } from "../lib/session";
import { Asked } from "../ui/Ask";
import { More } from "../ui/More";
import { note } from "../ui/notes";
import type { Class } from "./classes";
import { ClassWindow } from "./ClassWindow";
import { CloneWindow } from "./CloneWindow";

/** What can be done with a class: other words, a copy for the next year, archive; admins delete it. */
export function ClassMenu({ of }: { of: Class }) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const [open, setOpen] = useState<"change" | "clone" | "delete">();
  const status = useClassStatus(of);
  const close = () => setOpen(undefined);
  const isOld = of.status === "ARCHIVED";
  return (
    <>
      <More
        label={of.name}
        isPending={status.isPending}
        deeds={[
          ...(isOld ? [] : [{ id: "change", name: t("classes.changeIt"), onAction: () => setOpen("change") }]),
          { id: "clone", name: t("classes.clone"), onAction: () => setOpen("clone") },
          isOld
            ? { id: "activate", name: t("classes.activate"), onAction: () => status.set("ACTIVE") }
            : { id: "archive", name: t("classes.archive"), onAction: () => status.set("ARCHIVED") },
          ...(isAdmin(person) ? [{ id: "delete", name: t("classes.delete"), isDanger: true, onAction: () => setOpen("delete") }] : []),
        ]}
      />
      {open === "change" ? <ClassWindow of={of} onClose={close} /> : null}
      {open === "clone" ? <CloneWindow of={of} onClose={close} /> : null}
      {open === "delete" ? <Removal of={of} onClose={close} /> : null}
    </>
  );
}

/** Archives a class, makes it active again or shows a draft to its students, and offers the way back. */
export function useClassStatus(of: Class) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const before = of.status;
  const change = useMutation({
    mutationFn: (status: Class["status"]) => data(client.PATCH("/classes/{id}", { params: { path: { id: of.id } }, body: { status } })),
    onSuccess: (_saved, status) => {
      // An archived class does not become a draft again.
      const back = before === "DRAFT" && status === "ARCHIVED" ? undefined : before;
      note(t(`classes.now.${status}`, { name: of.name }), back === undefined || back === status ? undefined : () => change.mutate(back));
    },
    onError: (problem) => note(say(problem)),
    onSettled: () => invalidate(cache, "classes", "courses"),
  });
  return { set: change.mutate, isPending: change.isPending };
}

/** Asks for the name before a class goes, after the service has counted what goes with it. */
function Removal({ of, onClose }: { of: Class; onClose: () => void }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const path = { id: of.id };
  const counted = useQuery({
    queryKey: queryKeys.removal.ofClass(of.id),
    queryFn: () => data(client.DELETE("/classes/{id}", { params: { path, query: { dryRun: "1", force: "1" } } })),
    gcTime: 0,
    staleTime: 0,
  });
  const remove = useMutation({
    mutationFn: () => data(client.DELETE("/classes/{id}", { params: { path, query: { force: "1" } } })),
    onSuccess: async () => {
      note(t("classes.deleted", { name: of.name }));
      await navigate({ to: "/courses" });
      cache.removeQueries({ queryKey: queryKeys.classes.one(of.id) });
      await invalidate(cache, "classes", "courses", "groups", "assignments");
    },
    onError: (problem) => note(say(problem)),
  });
  const { error } = counted;
  useEffect(() => {
    if (error === null) return;
    note(say(error));
    onClose();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- said once for each problem
  }, [error]);
  if (!counted.data) return null;
  const goes = counted.data.deleted;
  return (
    <Asked
      title={t("classes.deleteTitle", { name: of.name })}
      text={
        <>
          <p>{t("classes.deleteText")}</p>
          <ul className="list-disc ps-6">
            <li>{t("classes.courses", { count: goes.courses })}</li>
            <li>{t("courses.groups", { count: goes.groups })}</li>
            <li>{t("courses.topics", { count: goes.assignments })}</li>
            <li>{t("courses.documents", { count: goes.documents })}</li>
          </ul>
        </>
      }
      typed={of.name}
      yes={t("classes.deleteYes")}
      onYes={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
