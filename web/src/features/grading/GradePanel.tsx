import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { useTranslation } from "react-i18next";

import { fieldError } from "../../i18n/useErrorText";
import { useTime } from "../../i18n/time";
import { isDialogOpen } from "../../hooks/useShortcuts";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { EditConflict } from "../../forms/EditConflict";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { topicRubricQuery } from "../rubrics/rubrics";
import { gradeBody, type GradeForm, isEmptyGrade } from "./gradeForm";
import { GradeFiles } from "./GradeFiles";
import { GradeHistory } from "./GradeHistory";
import { GradeFields, type GradingScheme } from "./GradeFields";
import { MemberGrades } from "./MemberGrades";
import { RubricFields } from "./RubricFields";
import { SnippetButtons } from "./SnippetButtons";
import { ReturnForRevision } from "./ReturnForRevision";
import { type Grading, useGrading } from "./useGrading";
import type { Submission } from "./work";

interface Props extends GradingScheme {
  submission: Submission;
  /** The grading user. */
  person: string;
  topicId: string;
  groupAssignmentId: string;
  groupName: string;
  isFinished: boolean;
  /** The deadline of the group. */
  deadline: string;
  nameOf: (userId: string) => string | undefined;
  /** Link to the next work, next to the button that completes this one. */
  next: ReactNode;
  /** Further actions on the submission. */
  children: ReactNode;
}

const LABELS = {
  value: "work.grade",
  points: "work.pointsField",
  feedback: "work.words",
  members: "work.members",
  rubric: "rubrics.criteria",
} as const;

/** Grade and text of one submission: a draft until it is returned to the group. Ctrl+Enter returns it. */
export function GradePanel({
  submission,
  person,
  topicId,
  groupAssignmentId,
  groupName,
  isFinished,
  deadline,
  nameOf,
  next,
  children,
  ...scheme
}: Props) {
  const { t } = useTranslation();
  const grading = useGrading(submission, person, `grade:${groupAssignmentId}`, scheme.maxPoints);
  const { form, change, isPublished, isUnsaved } = grading;
  const files = submission.grade?.files ?? [];
  const rubric = useQuery(topicRubricQuery(topicId));
  const canReturn =
    (!isEmptyGrade(form) || files.length > 0) &&
    gradeBody(form, scheme.maxPoints) !== undefined &&
    (isUnsaved || !isPublished);
  const nowOf = (field: keyof GradeForm): string => {
    const now = grading.saved[field];
    if (field === "rubric") return t("rubrics.count", { count: Object.keys(now).length });
    return typeof now === "string"
      ? now
      : Object.keys(now)
          .map((userId) => nameOf(userId) ?? t("work.someone"))
          .join(", ");
  };
  const takeBack = async () => {
    if (await grading.send(false)) toast(t("work.takenBackGrade", { name: groupName }));
  };
  const returnGrade = async () => {
    if (await grading.send(true))
      toast(t("work.returned", { name: groupName }), isPublished ? undefined : () => void takeBack());
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isDialogOpen()) return;
      event.preventDefault();
      if (canReturn) void returnGrade();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  return (
    <section aria-label={t("work.panel")} className="flex flex-col gap-3">
      <h2>{t("work.panel")}</h2>
      {rubric.data ? (
        <RubricFields
          criteria={rubric.data.criteria}
          marks={form.rubric}
          onChange={(marks) => change({ rubric: marks })}
          maxPoints={scheme.maxPoints}
          points={form.points}
          onUseSum={(points) => change({ points })}
        />
      ) : null}
      <GradeFields {...scheme} form={form} onChange={change} problem={grading.problem} />
      <TextArea
        label={t("work.words")}
        hint={t("work.wordsHint")}
        rows={5}
        maxLength={10_000}
        value={form.feedback}
        onChange={(feedback) => change({ feedback })}
      />
      <SnippetButtons text={form.feedback} maxLength={10_000} onChange={(feedback) => change({ feedback })} />
      <GradeFiles submissionId={submission.id} files={files} />
      <SaveStatus grading={grading} isFine={gradeBody(form, scheme.maxPoints) !== undefined} />
      {grading.problem === undefined || isFieldProblem(grading.problem) ? null : (
        <ErrorMessage problem={grading.problem} onRetry={() => void grading.send()} />
      )}
      <EditConflict differences={grading.conflicts} label={(field) => t(LABELS[field])} current={nowOf}>
        <div className="flex flex-wrap gap-2">
          {isPublished ? null : <Button onPress={() => void grading.send()}>{t("meanwhile.keep")}</Button>}
          <Button onPress={grading.discardOwn}>{t("meanwhile.take")}</Button>
        </div>
      </EditConflict>
      <div className="flex flex-wrap gap-2">
        <Button
          kind="main"
          isPending={grading.isReturning}
          aria-disabled={!canReturn}
          onPress={() => canReturn && void returnGrade()}
          className={canReturn ? "" : "opacity-60"}
          aria-keyshortcuts="Control+Enter"
        >
          {isPublished ? t("work.returnChange") : t("work.return")}
        </Button>
        {next}
      </div>
      <p className="text-soft text-sm">{isPublished ? t("work.seenHint") : t("work.returnHint")}</p>
      <div className="-mx-2 flex flex-wrap">
        {isPublished ? (
          <Button kind="quiet" className="px-2" onPress={() => void takeBack()} isPending={grading.isReturning}>
            {t("work.takeBackGrade")}
          </Button>
        ) : null}
        <ReturnForRevision
          submission={submission}
          feedback={form.feedback}
          isFinished={isFinished}
          groupName={groupName}
          deadline={deadline}
        />
        {children}
      </div>
      <MemberGrades
        {...scheme}
        memberIds={submission.memberIds}
        nameOf={nameOf}
        members={form.members}
        onChange={(members) => change({ members })}
      />
      <GradeHistory submission={submission} maxPoints={scheme.maxPoints} nameOf={nameOf} />
    </section>
  );
}

/** Whether a field shows the error itself. */
const isFieldProblem = (problem: unknown): boolean =>
  ["value", "points"].some((path) => fieldError(problem, path) !== undefined);

/** Save status of the grade. */
function SaveStatus({
  grading: { isPublished, isUnsaved, isSaving, savedAt, problem, conflicts },
  isFine,
}: {
  grading: Grading;
  isFine: boolean;
}) {
  const { t } = useTranslation();
  const { clock, moment } = useTime();
  const time = savedAt === undefined ? "" : isPublished ? moment(savedAt) : clock(savedAt);
  const statusText = () => {
    if (problem !== undefined || conflicts !== undefined || !isFine) return t("work.notSaved");
    if (isUnsaved && isPublished) return t("work.changed");
    if (isUnsaved || isSaving) return t("work.saving");
    if (savedAt === undefined) return t("work.blank");
    return isPublished ? t("work.seen", { time }) : t("work.saved", { time });
  };
  return <output className="text-soft text-sm">{statusText()}</output>;
}
