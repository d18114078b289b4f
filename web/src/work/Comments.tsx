import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, data, type Schemas } from "../api/client";
import { draft, keepDraft } from "../lib/drafts";
import { fieldProblem, useSay } from "../lib/problems";
import { invalidate } from "../lib/queryKeys";
import { Area } from "../ui/Area";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { Chip } from "../ui/Chip";
import { Choice } from "../ui/Choice";
import { Fold } from "../ui/Fold";
import { note } from "../ui/notes";
import { Problems } from "../ui/Problems";
import { When } from "../ui/When";
import { comments, type Feedback, type Paper } from "./work";

interface Props {
  groupAssignmentId: string;
  papers: readonly Paper[];
  person: { id: string; isAdmin: boolean };
}

/** What teachers say beside the grade: about the whole work or one document, for the group or among themselves. Sent at once. */
export function Comments({ groupAssignmentId, papers, person }: Props) {
  const { t } = useTranslation();
  const found = useQuery(comments(groupAssignmentId));
  const list = useRef<HTMLUListElement>(null);
  return (
    <Fold name={t("work.comments")} count={found.data?.length || undefined}>
        {found.isError ? <Problems problem={found.error} again={() => void found.refetch()} /> : null}
        <ul ref={list} tabIndex={-1} aria-label={t("work.comments")} className="flex flex-col gap-3">
          {found.data?.map((one) => (
            <Comment key={one.id} comment={one} papers={papers} canDelete={one.authorId === person.id || person.isAdmin} onGone={() => list.current?.focus()} />
          ))}
        </ul>
        <Say groupAssignmentId={groupAssignmentId} papers={papers} person={person.id} />
    </Fold>
  );
}

/** What was deleted, to be said once more: about the document, the attempt or the whole work as before. */
function again({ text, visibility, documentId, submissionId, groupAssignmentId }: Feedback): Schemas["NewFeedback"] {
  const about = documentId !== null ? { documentId } : submissionId !== null ? { submissionId } : { groupAssignmentId };
  return { text, visibility, ...about };
}

function Comment({ comment, papers, canDelete, onGone }: { comment: Feedback; papers: readonly Paper[]; canDelete: boolean; onGone: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const say = useSay();
  const onSettled = () => invalidate(cache, "feedback");
  const restore = useMutation({ mutationFn: () => data(client.POST("/feedback", { body: again(comment) })), onError: (problem) => note(say(problem)), onSettled });
  const remove = useMutation({
    mutationFn: () => client.DELETE("/feedback/{id}", { params: { path: { id: comment.id } } }),
    onSuccess: () => {
      onGone();
      note(t("work.commentDeleted"), () => restore.mutate());
    },
    onSettled,
  });
  const about = papers.find((paper) => paper.id === comment.documentId)?.title;
  return (
    <li className="border-faint flex flex-col gap-1 border-s-4 ps-3">
      <p className="text-soft flex flex-wrap items-center gap-x-2 text-sm">
        <strong className="text-ink">{comment.author.name}</strong> <When at={comment.createdAt} />
        {about === undefined ? null : <span>{about}</span>}
        {comment.visibility === "STAFF" ? <Chip>{t("work.staffOnly")}</Chip> : null}
      </p>
      <p className="break-words whitespace-pre-wrap">{comment.text}</p>
      {canDelete ? (
        <Button kind="quiet" className="self-start px-0" isPending={remove.isPending} onPress={() => remove.mutate()} aria-label={t("work.deleteComment", { text: comment.text.slice(0, 40) })}>
          {t("app.delete")}
        </Button>
      ) : null}
      {remove.isError ? <Problems problem={remove.error} /> : null}
    </li>
  );
}

const WHOLE = "whole";

function Say({ groupAssignmentId, papers, person }: { groupAssignmentId: string; papers: readonly Paper[]; person: string }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const of = `comment:${groupAssignmentId}`;
  const [text, setText] = useState(() => draft(person, of));
  const [about, setAbout] = useState(WHOLE);
  const [isStaff, setStaff] = useState(false);
  const live = papers.filter((paper) => paper.document?.assignmentId != null);
  const subject = live.some((paper) => paper.id === about) ? about : WHOLE;
  const keep = (words: string) => {
    setText(words);
    keepDraft(person, of, words);
  };
  const say = useMutation({
    mutationFn: () =>
      data(
        client.POST("/feedback", {
          body: { text: text.trim(), visibility: isStaff ? "STAFF" : "GROUP", ...(subject === WHOLE ? { groupAssignmentId } : { documentId: subject }) },
        }),
      ),
    onSuccess: () => keep(""),
    onSettled: () => invalidate(cache, "feedback"),
  });
  const wrong = fieldProblem(say.error, "text");
  return (
    <Form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") say.mutate();
      }}
    >
      <Area label={t("work.comment")} rows={2} maxLength={10_000} value={text} onChange={keep} isRequired problem={wrong} />
      {live.length === 0 ? null : (
        <Choice label={t("work.aboutWhat")} options={[{ id: WHOLE, name: t("work.wholeWork") }, ...live.map((paper) => ({ id: paper.id, name: paper.title }))]} value={subject} onChange={setAbout} />
      )}
      <Check isSelected={isStaff} onChange={setStaff}>
        {t("work.forStaff")}
      </Check>
      {say.isError && wrong === undefined ? <Problems problem={say.error} /> : null}
      <Button type="submit" className="self-start" isPending={say.isPending}>
        {t("work.say")}
      </Button>
    </Form>
  );
}
