import { useMutation, useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { useErrorText } from "../../i18n/useErrorText";
import { saveSubmittedPdf } from "../work-room/files";
import { useLateText } from "../../i18n/useLateText";
import { topicDetailQuery, useUserName, type WorkRoom } from "../work-room/workRoom";
import { Button } from "../../components/Button";
import { StateChip } from "../../components/base/StateChip";
import { Badge } from "../../components/base/Badge";
import { EmptyState } from "../../components/base/EmptyState";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { GradeSummary } from "../grading/GradeSummary";
import {
  ownAttemptsQuery,
  type Feedback,
  isPublished,
  markFeedbackSeen,
  type Submission,
  type GroupTopic,
  feedbackTextsQuery,
} from "./feedback";

/** Feedback on the work of a group for one topic. Students see published feedback only. */
export function FeedbackView({ workRoom, topic, own }: { workRoom: WorkRoom; topic: GroupTopic; own: string }) {
  const { t } = useTranslation();
  const nameOf = useUserName(workRoom);
  const attemptsQueryResult = useQuery(ownAttemptsQuery(topic.id));
  const textsQueryResult = useQuery(feedbackTextsQuery(topic.id));
  const whole = useQuery(topicDetailQuery(topic.assignmentId));
  const hasFeedback = attemptsQueryResult.isSuccess && textsQueryResult.isSuccess;
  useEffect(() => {
    if (hasFeedback) markFeedbackSeen(own, topic);
  }, [hasFeedback, own, topic]);
  if (attemptsQueryResult.isPending || textsQueryResult.isPending) return <Skeleton count={1} />;
  if (!attemptsQueryResult.data || !textsQueryResult.data)
    return (
      <ErrorMessage
        problem={attemptsQueryResult.error ?? textsQueryResult.error}
        onRetry={() => void Promise.all([attemptsQueryResult.refetch(), textsQueryResult.refetch()])}
      />
    );
  const published = attemptsQueryResult.data.filter((one) => isPublished(one.grade));
  // Visiting teachers see what the group sees.
  const texts = textsQueryResult.data.filter((one) => one.visibility === "GROUP" && one.publishedAt !== null);
  const generalTexts = texts.filter((one) => one.submissionId === null);
  const current = attemptsQueryResult.data.find((one) => one.status === "ACTIVE");
  return (
    <div className="flex max-w-prose flex-col gap-4">
      <h2 className="sr-only">{t("room.place.feedback")}</h2>
      {published.length === 0 && texts.length === 0 ? (
        <EmptyState>
          {t("feedback.none")}{" "}
          {current ? (
            <>
              {t("state.SUBMITTED")} <Time at={current.submittedAt} />{" "}
              {t("room.handIn.by", { name: nameOf(current.submittedById) })}.
            </>
          ) : (
            t("feedback.notSubmitted")
          )}
        </EmptyState>
      ) : null}
      {generalTexts.map((one) => (
        <FeedbackText key={one.id} feedback={one} />
      ))}
      {attemptsQueryResult.data.map((one) => (
        <FeedbackAttempt
          key={one.id}
          submission={one}
          texts={texts.filter((text) => text.submissionId === one.id)}
          nameOf={nameOf}
          maxPoints={whole.data?.maxPoints ?? null}
          isFinished={topic.assignment.status === "FINISHED"}
        />
      ))}
    </div>
  );
}

interface AttemptProps {
  submission: Submission;
  texts: readonly Feedback[];
  nameOf: (id: string | null) => string;
  maxPoints: number | null;
  isFinished: boolean;
}

/** One submission with its feedback. */
function FeedbackAttempt({ submission, texts, nameOf, maxPoints, isFinished }: AttemptProps) {
  const { t } = useTranslation();
  const lateText = useLateText();
  const title = t("feedback.attempt", { number: submission.attempt });
  return (
    <section aria-label={title} className="border-faint flex flex-col gap-3 rounded-xl border p-4">
      <div>
        <h3 className="flex flex-wrap items-center gap-2 font-semibold">
          {title}
          {submission.status === "ACTIVE" ? null : <Badge>{t(`feedback.status.${submission.status}`)}</Badge>}
          {submission.isLate ? <StateChip state="late">{lateText(submission.lateBySeconds)}</StateChip> : null}
        </h3>
        <p className="text-soft text-sm">
          {t("state.SUBMITTED")} <Time at={submission.submittedAt} />{" "}
          {t("room.handIn.by", { name: nameOf(submission.submittedById) })}
        </p>
      </div>
      {isPublished(submission.grade) && submission.grade ? (
        <div>
          <GradeSummary grade={submission.grade} maxPoints={maxPoints} />
          <p className="text-soft text-sm">{t("feedback.gradedBy", { name: nameOf(submission.grade.gradedById) })}</p>
        </div>
      ) : null}
      {texts.map((one) => (
        <FeedbackText key={one.id} feedback={one} />
      ))}
      <Documents submission={submission} isFinished={isFinished} />
    </section>
  );
}

function FeedbackText({ feedback }: { feedback: Feedback }) {
  return (
    <article className="border-accent border-s-4 ps-3">
      <p className="text-soft text-sm">
        {feedback.author.name} · <Time at={feedback.publishedAt ?? feedback.createdAt} />
      </p>
      <p className="break-words whitespace-pre-wrap">{feedback.text}</p>
    </article>
  );
}

/** The documents as submitted; as PDF once the topic is finished. */
function Documents({ submission, isFinished }: { submission: Submission; isFinished: boolean }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const pdf = useMutation({ mutationFn: saveSubmittedPdf, onError: (problem) => toast(errorText(problem)) });
  return (
    <ul className="flex flex-col">
      {submission.documents.map((one) => (
        <li key={one.id} className="flex flex-wrap items-center gap-x-3">
          <a href={one.downloadUrl} download className="inline-flex min-h-11 min-w-0 items-center gap-2">
            <Download aria-hidden="true" className="size-4 shrink-0" />
            <span className="min-w-0 break-words">
              {one.title}.{one.fileExtension}
            </span>
          </a>
          {isFinished && one.fileExtension !== "pdf" ? (
            <Button
              kind="quiet"
              isPending={pdf.isPending && pdf.variables.id === one.id}
              onPress={() => pdf.mutate(one)}
            >
              {t("room.pdf")}
            </Button>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
