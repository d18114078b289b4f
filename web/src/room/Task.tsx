import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";

import { TimeLeft } from "../ui/TimeLeft";
import { When } from "../ui/When";
import { Files } from "./Files";
import { type Group, type Topic, topicOf } from "./room";

const Markdown = lazy(() => import("react-markdown"));

const PROSE =
  "flex flex-col gap-3 break-words [&_blockquote]:border-line [&_blockquote]:border-s-3 [&_blockquote]:ps-3 [&_h3]:font-semibold [&_h4]:font-semibold [&_ol]:list-decimal [&_ol]:ps-6 [&_pre]:overflow-x-auto [&_ul]:list-disc [&_ul]:ps-6";

/** What the group has to do: the text, the files, how much, until when. */
export function Task({ topic, group }: { topic: Topic | undefined; group: Group | null | undefined }) {
  const { t } = useTranslation();
  return (
    <div className="flex max-w-prose flex-col gap-4">
      <h2 className="sr-only">{t("room.place.task")}</h2>
      {topic === undefined ? <p>{t("room.none")}</p> : <Text topic={topic} />}
      {topic && topic.effectiveAttachments.length > 0 ? (
        <section aria-label={t("room.files")}>
          <h3 className="font-semibold">{t("room.files")}</h3>
          <Files files={topic.effectiveAttachments} />
        </section>
      ) : null}
      {group && group.attachments.length > 0 ? (
        <section aria-label={t("room.groupFiles")}>
          <h3 className="font-semibold">{t("room.groupFiles")}</h3>
          <Files files={group.attachments} />
        </section>
      ) : null}
    </div>
  );
}

function Text({ topic }: { topic: Topic }) {
  const { t } = useTranslation();
  const { data } = useQuery(topicOf(topic.assignmentId));
  const isDone = topic.assignment.status === "FINISHED" || topic.status === "SUBMITTED" || topic.status === "GRADED";
  return (
    <>
      <p className="text-soft flex flex-wrap gap-x-2">
        <span>
          {t("room.ends")} <When at={topic.assignment.deadline} />
        </span>
        {isDone ? null : (
          <span>
            · <TimeLeft until={topic.assignment.deadline} />
          </span>
        )}
        {topic.lateAllowedUntil === null ? null : (
          <span>
            · {t("room.extended")} <When at={topic.lateAllowedUntil} />
          </span>
        )}
        {data ? <span>· {t("room.required", { count: data.requiredSubmissions })}</span> : null}
      </p>
      {topic.effectiveDescription.trim() === "" ? (
        <p className="text-soft">{t("room.noText")}</p>
      ) : (
        <div className={PROSE}>
          <Suspense fallback={<p className="whitespace-pre-wrap">{topic.effectiveDescription}</p>}>
            <Markdown components={{ a: Outside, h1: "h3", h2: "h3", img: () => null }}>{topic.effectiveDescription}</Markdown>
          </Suspense>
        </div>
      )}
    </>
  );
}

/** A link the teacher wrote leads out of the room, and tells the other side nothing. */
function Outside({ href, children }: { href?: string | undefined; children?: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
