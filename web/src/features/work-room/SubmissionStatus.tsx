import { Link } from "@tanstack/react-router";
import { MessageSquareText, Undo2 } from "lucide-react";
import { useTranslation } from "react-i18next";

import { ConfirmButton } from "../../components/base/ConfirmButton";
import { Button, buttonClass } from "../../components/Button";
import { StateChip } from "../../components/base/StateChip";
import { useLateText } from "../../i18n/useLateText";
import { Time } from "../../components/base/Time";
import { isLate, useTakeBack } from "./submission";
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
    return <StateChip state="finished">{t("state.FINISHED")}</StateChip>;
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
      className={buttonClass("main")}
    >
      <MessageSquareText aria-hidden="true" className="size-5" />{" "}
      {t(topic.status === "GRADED" ? "groups.came.GRADED" : "groups.came.RETURNED")}
    </Link>
  );
}

function Submitted({ workRoom, topic }: { workRoom: WorkRoom; topic: GroupTopic }) {
  const { t } = useTranslation();
  const nameOf = useUserName(workRoom);
  const lateText = useLateText();
  const takingBack = useTakeBack(topic);
  const own = workRoom.documents.filter((one) => one.status === "SUBMITTED" && one.assignmentId === topic.assignmentId);
  const submission = topic.currentSubmission;
  const takeBack = () => takingBack.mutate(own);
  return (
    <>
      <span className="flex flex-wrap items-center gap-1.5">
        <StateChip state="submitted">
          <span>
            {t("state.SUBMITTED")}
            {submission ? (
              <>
                {" "}
                <Time at={submission.submittedAt} /> {t("room.handIn.by", { name: nameOf(submission.submittedById) })}
              </>
            ) : null}
          </span>
        </StateChip>
        {submission?.isLate ? <StateChip state="late">{lateText(submission.lateBySeconds)}</StateChip> : null}
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
