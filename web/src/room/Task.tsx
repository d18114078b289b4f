import { lazy, Suspense } from "react";
import { useTranslation } from "react-i18next";

import { TimeLeft } from "../ui/TimeLeft";
import type { Topic } from "./room";

const Markdown = lazy(() => import("react-markdown"));

/** What the group has to do: the text, the files, the time. */
export function Task({ topic }: { topic: Topic }) {
  const { t, i18n } = useTranslation();
  const when = new Intl.DateTimeFormat(i18n.language, { dateStyle: "full", timeStyle: "short" }).format(new Date(topic.assignment.deadline));
  return (
    <section aria-label={t("room.task")} className="flex flex-col gap-3">
      <h2>{topic.assignment.title}</h2>
      <p>
        {t("today.ends", { when })} · {topic.assignment.status === "FINISHED" ? t("state.FINISHED") : <TimeLeft until={topic.assignment.deadline} />}
      </p>
      <div className="prose flex flex-col gap-2">
        <Suspense fallback={<p className="whitespace-pre-wrap">{topic.effectiveDescription}</p>}>
          <Markdown>{topic.effectiveDescription}</Markdown>
        </Suspense>
      </div>
      {topic.effectiveAttachments.length === 0 ? null : (
        <ul className="flex flex-col gap-1">
          {topic.effectiveAttachments.map((file) => (
            <li key={file.id}>
              <a href={file.url} download className="inline-flex min-h-11 items-center">
                {file.fileName}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
