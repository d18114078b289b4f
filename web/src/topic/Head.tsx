import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { useSay } from "../lib/problems";
import { queryKeys } from "../lib/queryKeys";
import { Asked } from "../ui/Ask";
import { asButton } from "../ui/Button";
import { Chip } from "../ui/Chip";
import { Heading } from "../ui/Heading";
import { More } from "../ui/More";
import { note } from "../ui/notes";
import { Window } from "../ui/Window";
import { Copy } from "./Copy";
import type { Topic } from "./form";
import { refresh } from "./topic";

/** Which topic this is, where it belongs, and what can be done with it as a whole. */
export function Head({ of }: { of: Topic }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<"copy" | "delete">();
  return (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
      <div className="min-w-0 grow">
        <nav aria-label={t("divide.where")}>
          {of.course && of.courseId !== null ? (
            <Link to="/courses/$courseId" params={{ courseId: of.courseId }} className="inline-flex min-h-6 items-center">
              {of.class.name} › {of.course.name}
            </Link>
          ) : (
            <Link to="/classes/$classId" params={{ classId: of.classId }} className="inline-flex min-h-6 items-center">
              {of.class.name}
            </Link>
          )}
        </nav>
        <div className="flex flex-wrap items-center gap-x-3">
          <Heading title={of.title}>{of.title}</Heading>
          {of.status === "FINISHED" ? <Chip tone="warn">{t("state.FINISHED")}</Chip> : null}
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Link to="/t/$topicId/board" params={{ topicId: of.id }} className={asButton()}>
          {t("topic.board")}
        </Link>
        <More
          label={of.title}
          deeds={[
            { id: "copy", name: t("topic.copy"), onAction: () => setOpen("copy") },
            { id: "delete", name: t("topic.delete"), isDanger: true, onAction: () => setOpen("delete") },
          ]}
        />
      </div>
      {open === "copy" ? (
        <Window title={t("topic.copyTitle")} isOpen onOpenChange={() => setOpen(undefined)}>
          {(close) => <Copy of={of} close={close} />}
        </Window>
      ) : null}
      {open === "delete" ? <Delete of={of} onClose={() => setOpen(undefined)} /> : null}
    </div>
  );
}

function Delete({ of, onClose }: { of: Topic; onClose: () => void }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const path = { id: of.id };
  const goes = useQuery({ queryKey: queryKeys.assignments.deletion(of.id), queryFn: () => data(client.DELETE("/assignments/{id}", { params: { path, query: { dryRun: "1" } } })), staleTime: 0, gcTime: 0 });
  const remove = useMutation({
    mutationFn: () => data(client.DELETE("/assignments/{id}", { params: { path, query: {} } })),
    onSuccess: async () => {
      note(t("topic.deleted", { title: of.title }));
      if (of.courseId === null) await navigate({ to: "/courses", ignoreBlocker: true });
      else await navigate({ to: "/courses/$courseId", params: { courseId: of.courseId }, ignoreBlocker: true });
      await refresh(cache);
    },
    onError: (problem) => note(say(problem)),
  });
  const texts = of.groupAssignments.filter((own) => own.descriptionOverride).length;
  const counts = [["topic.deleteSubmissions", goes.data?.deletedSubmissions ?? 0], ["topic.deleteFiles", of.attachments.length], ["topic.deleteTexts", texts]] as const;
  const words = [t("topic.deleteTask"), ...counts.filter(([, count]) => count > 0).map(([key, count]) => t(key, { count }))];
  return (
    <Asked
      title={t("topic.deleteTitle", { title: of.title })}
      text={
        <>
          <p>{t("topic.deleteGoes")}</p>
          <ul aria-busy={goes.isPending} className="list-disc ps-5">
            {words.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <p>{t("topic.deleteStays")}</p>
        </>
      }
      yes={t("topic.deleteYes")}
      typed={of.title}
      onYes={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
