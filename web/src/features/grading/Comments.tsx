import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { getDraft, saveDraft } from "../../forms/drafts";
import { invalidate } from "../../api/queryKeys";
import { FormBody } from "../../forms/FormDialog";
import { useErrorText } from "../../i18n/useErrorText";
import { useForm } from "../../forms/useForm";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Badge } from "../../components/base/Badge";
import { Select } from "../../forms/Select";
import { Disclosure } from "../../components/Disclosure";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Time } from "../../components/base/Time";
import { SnippetButtons } from "./SnippetButtons";
import { commentsQuery, type Feedback, type ViewedDocument } from "./work";

interface Props {
  groupAssignmentId: string;
  viewedDocuments: readonly ViewedDocument[];
  person: { id: string; isAdmin: boolean };
}

/** Comments of teachers in addition to the grade: on the whole work or one document, for the group or for staff only. Sent immediately. */
export function Comments({ groupAssignmentId, viewedDocuments, person }: Props) {
  const { t } = useTranslation();
  const found = useQuery(commentsQuery(groupAssignmentId));
  const list = useRef<HTMLUListElement>(null);
  return (
    <Disclosure name={t("work.comments")} count={found.data?.length || undefined}>
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      <ul ref={list} tabIndex={-1} aria-label={t("work.comments")} className="flex flex-col gap-3">
        {found.data?.map((one) => (
          <Comment
            key={one.id}
            comment={one}
            viewedDocuments={viewedDocuments}
            canDelete={one.authorId === person.id || person.isAdmin}
            onDeleted={() => list.current?.focus()}
          />
        ))}
      </ul>
      <CommentForm groupAssignmentId={groupAssignmentId} viewedDocuments={viewedDocuments} person={person.id} />
    </Disclosure>
  );
}

/** Request that restores a deleted comment on the same object. */
function toComment({
  text,
  visibility,
  documentId,
  submissionId,
  groupAssignmentId,
}: Feedback): Schemas["NewFeedback"] {
  const about = documentId !== null ? { documentId } : submissionId !== null ? { submissionId } : { groupAssignmentId };
  return { text, visibility, ...about };
}

function Comment({
  comment,
  viewedDocuments,
  canDelete,
  onDeleted,
}: {
  comment: Feedback;
  viewedDocuments: readonly ViewedDocument[];
  canDelete: boolean;
  onDeleted: () => void;
}) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const onSettled = () => invalidate(cache, "feedback");
  const restore = useMutation({
    mutationFn: () => unwrap(client.POST("/feedback", { body: toComment(comment) })),
    onError: (problem) => toast(errorText(problem)),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => client.DELETE("/feedback/{id}", { params: { path: { id: comment.id } } }),
    onSuccess: () => {
      onDeleted();
      toast(t("work.commentDeleted"), () => restore.mutate());
    },
    onSettled,
  });
  const about = viewedDocuments.find((paper) => paper.id === comment.documentId)?.title;
  return (
    <li className="border-faint flex flex-col gap-1 border-s-4 ps-3">
      <p className="text-soft flex flex-wrap items-center gap-x-2 text-sm">
        <strong className="text-ink">{comment.author.name}</strong> <Time at={comment.createdAt} />
        {about === undefined ? null : <span>{about}</span>}
        {comment.visibility === "STAFF" ? <Badge>{t("work.staffOnly")}</Badge> : null}
      </p>
      <p className="break-words whitespace-pre-wrap">{comment.text}</p>
      {canDelete ? (
        <Button
          kind="quiet"
          className="self-start px-0"
          isPending={remove.isPending}
          onPress={() => remove.mutate()}
          aria-label={t("work.deleteComment", { text: comment.text.slice(0, 40) })}
        >
          {t("app.delete")}
        </Button>
      ) : null}
      {remove.isError ? <ErrorMessage problem={remove.error} /> : null}
    </li>
  );
}

const WHOLE_WORK = "whole";

interface CommentFormProps {
  groupAssignmentId: string;
  viewedDocuments: readonly ViewedDocument[];
  person: string;
}

function CommentForm({ groupAssignmentId, viewedDocuments, person }: CommentFormProps) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const draftKey = `comment:${groupAssignmentId}`;
  const currentDocuments = viewedDocuments.filter((paper) => paper.document?.assignmentId != null);
  const subjectOf = (about: string) => (currentDocuments.some((paper) => paper.id === about) ? about : WHOLE_WORK);
  const form = useForm({
    initial: () => ({ text: getDraft(person, draftKey), about: WHOLE_WORK, isForStaff: false }),
    send: ({ text, about, isForStaff }) => {
      const subject = subjectOf(about);
      return unwrap(
        client.POST("/feedback", {
          body: {
            text: text.trim(),
            visibility: isForStaff ? "STAFF" : "GROUP",
            ...(subject === WHOLE_WORK ? { groupAssignmentId } : { documentId: subject }),
          },
        }),
      );
    },
    onSent: () => updateText(""),
    onSettled: () => invalidate(cache, "feedback"),
  });
  const updateText = (text: string) => {
    form.set({ text });
    saveDraft(person, draftKey, text);
  };
  return (
    <FormBody form={form} submitLabel={t("work.say")} kind="plain" className="gap-3">
      <TextArea
        label={t("work.comment")}
        rows={2}
        maxLength={10_000}
        isRequired
        {...form.field("text")}
        onChange={updateText}
      />
      <SnippetButtons text={form.values.text} maxLength={10_000} onChange={updateText} />
      {currentDocuments.length === 0 ? null : (
        <Select
          label={t("work.aboutWhat")}
          options={[
            { id: WHOLE_WORK, name: t("work.wholeWork") },
            ...currentDocuments.map((paper) => ({ id: paper.id, name: paper.title })),
          ]}
          {...form.field("about")}
          value={subjectOf(form.values.about)}
        />
      )}
      <Checkbox {...form.check("isForStaff")}>{t("work.forStaff")}</Checkbox>
    </FormBody>
  );
}
