import { Link } from "@tanstack/react-router";
import { Check, Lock, MessageSquareText, Undo2 } from "lucide-react";
import { useTranslation } from "react-i18next";

import { ConfirmButton } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { Time } from "../../components/base/Time";
import { isLate, lateMinutes, useTakeBack } from "./submission";
import { type Document, type GroupTopic, useUserName, type WorkRoom } from "./workRoom";
import { SubmitDialog } from "./SubmitDialog";

/** Submission status of the group, and the actions on it. */
export function SubmissionStatus({
  workRoom,
  topic,
  document,
}: {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  document?: Document | undefined;
}) {
  const { t } = useTranslation();
  if (topic === undefined) return null;
  if (topic.assignment.status === "FINISHED") {
    return (
      <span className="inline-flex items-center gap-2">
        <Lock aria-hidden="true" className="size-5" /> {t("state.FINISHED")}
      </span>
    );
  }
  if (topic.status === "GRADED") {
    return <FeedbackLink workRoom={workRoom} topic={topic} />;
  }
  const canSubmitAgain = workRoom.documents.some((one) => one.status === "DRAFT" && one.canEdit);
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {topic.status === "RETURNED" ? <FeedbackLink workRoom={workRoom} topic={topic} /> : null}
      {topic.status === "SUBMITTED" ? <Submitted workRoom={workRoom} topic={topic} /> : null}
      {canSubmitAgain && !(topic.status === "SUBMITTED" && topic.isComplete) ? (
        <SubmitDialog workRoom={workRoom} topic={topic} document={document} />
      ) : null}
    </span>
  );
}

/** Link to the feedback. */
function FeedbackLink({ workRoom, topic }: { workRoom: WorkRoom; topic: GroupTopic }) {
  const { t } = useTranslation();
  return (
    <Link
      to="/groups/$groupId"
      params={{ groupId: workRoom.groupId }}
      search={{ place: "feedback", topic: topic.assignmentId }}
      className="inline-flex min-h-11 items-center gap-2"
    >
      <MessageSquareText aria-hidden="true" className="size-5" />{" "}
      {t(topic.status === "GRADED" ? "groups.came.GRADED" : "groups.came.RETURNED")}
    </Link>
  );
}

function Submitted({ workRoom, topic }: { workRoom: WorkRoom; topic: GroupTopic }) {
  const { t } = useTranslation();
  const nameOf = useUserName(workRoom);
  const takingBack = useTakeBack(topic);
  const own = workRoom.documents.filter((one) => one.status === "SUBMITTED" && one.assignmentId === topic.assignmentId);
  const submission = topic.currentSubmission;
  const takeBack = () => takingBack.mutate(own);
  return (
    <>
      <span>
        <Check aria-hidden="true" className="text-good inline size-5" /> {t("state.SUBMITTED")}
        {submission ? (
          <>
            {" "}
            <Time at={submission.submittedAt} /> {t("room.handIn.by", { name: nameOf(submission.submittedById) })}
            {submission.isLate ? ` · ${t("room.handIn.late", { count: lateMinutes(submission.lateBySeconds) })}` : null}
          </>
        ) : null}
      </span>
      {own.length === 0 ? null : isLate(topic) ? (
        // Submitting again would be late or rejected, so this asks for confirmation.
        <ConfirmButton
          open={t("room.handIn.back.go")}
          title={t("room.handIn.back.title")}
          text={t("room.handIn.back.late")}
          confirmLabel={t("room.handIn.back.go")}
          onConfirm={takeBack}
          isPending={takingBack.isPending}
        />
      ) : (
        <Button onPress={takeBack} isPending={takingBack.isPending}>
          <Undo2 aria-hidden="true" className="size-4" /> {t("room.handIn.back.go")}
        </Button>
      )}
    </>
  );
}
