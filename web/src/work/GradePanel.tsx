import { type ReactNode, useEffect } from "react";
import { useTranslation } from "react-i18next";

import { fieldProblem } from "../lib/problems";
import { useTime } from "../lib/time";
import { isWindowOpen } from "../lib/keys";
import { Area } from "../ui/Area";
import { Button } from "../ui/Button";
import { Meanwhile } from "../ui/Meanwhile";
import { note } from "../ui/notes";
import { Problems } from "../ui/Problems";
import { editOf, type Form, isEmpty } from "./form";
import { FormerGrades } from "./FormerGrades";
import { GradeFields, type Measure } from "./GradeFields";
import { MemberGrades } from "./MemberGrades";
import { Revise } from "./Revise";
import { type Grading, useGrading } from "./useGrading";
import type { Submission } from "./work";

interface Props extends Measure {
  submission: Submission;
  /** Who grades. */
  person: string;
  groupAssignmentId: string;
  groupName: string;
  isFinished: boolean;
  nameOf: (userId: string) => string | undefined;
  /** The way to the next work, beside the button that ends this one. */
  next: ReactNode;
  /** What else can be done with the attempt. */
  children: ReactNode;
}

const LABELS = { value: "work.grade", points: "work.pointsField", feedback: "work.words", members: "work.members" } as const;

/** Grade and words for one attempt: a draft until it is returned to the group. Control and Enter return it. */
export function GradePanel({ submission, person, groupAssignmentId, groupName, isFinished, nameOf, next, children, ...measure }: Props) {
  const { t } = useTranslation();
  const grading = useGrading(submission, person, `grade:${groupAssignmentId}`, measure.maxPoints);
  const { form, change, isPublished, isUnsaved } = grading;
  const canReturn = !isEmpty(form) && editOf(form, measure.maxPoints) !== undefined && (isUnsaved || !isPublished);
  const nowOf = (field: keyof Form): string => {
    const now = grading.saved[field];
    return typeof now === "string" ? now : Object.keys(now).map((userId) => nameOf(userId) ?? t("work.someone")).join(", ");
  };
  const takeBack = async () => {
    if (await grading.send(false)) note(t("work.takenBackGrade", { name: groupName }));
  };
  const giveOut = async () => {
    if (await grading.send(true)) note(t("work.returned", { name: groupName }), isPublished ? undefined : () => void takeBack());
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isWindowOpen()) return;
      event.preventDefault();
      if (canReturn) void giveOut();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  return (
    <section aria-label={t("work.panel")} className="flex flex-col gap-3">
      <h2>{t("work.panel")}</h2>
      <GradeFields {...measure} form={form} onChange={change} problem={grading.problem} />
      <Area label={t("work.words")} hint={t("work.wordsHint")} rows={5} maxLength={10_000} value={form.feedback} onChange={(feedback) => change({ feedback })} />
      <Saved grading={grading} isFine={editOf(form, measure.maxPoints) !== undefined} />
      {grading.problem === undefined || isAtField(grading.problem) ? null : <Problems problem={grading.problem} again={() => void grading.send()} />}
      {grading.differences === undefined ? null : (
        <Meanwhile changes={grading.differences.map(({ field, isTyped }) => ({ field: t(LABELS[field]), now: nowOf(field), isTyped }))}>
          <div className="flex flex-wrap gap-2">
            {isPublished ? null : <Button onPress={() => void grading.send()}>{t("meanwhile.keep")}</Button>}
            <Button onPress={grading.takeSaved}>{t("meanwhile.take")}</Button>
          </div>
        </Meanwhile>
      )}
      <div className="flex flex-wrap gap-2">
        <Button kind="main" isPending={grading.isReturning} aria-disabled={!canReturn} onPress={() => canReturn && void giveOut()} className={canReturn ? "" : "opacity-60"} aria-keyshortcuts="Control+Enter">
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
        <Revise submission={submission} words={form.feedback} isFinished={isFinished} groupName={groupName} />
        {children}
      </div>
      <MemberGrades {...measure} memberIds={submission.memberIds} nameOf={nameOf} members={form.members} onChange={(members) => change({ members })} />
      <FormerGrades submission={submission} maxPoints={measure.maxPoints} nameOf={nameOf} />
    </section>
  );
}

/** Whether a field says already what is wrong. */
const isAtField = (problem: unknown): boolean => ["value", "points"].some((path) => fieldProblem(problem, path) !== undefined);

/** Where the words are now, so that nobody has to trust us. */
function Saved({ grading: { isPublished, isUnsaved, isSaving, savedAt, problem, differences }, isFine }: { grading: Grading; isFine: boolean }) {
  const { t } = useTranslation();
  const { clock, moment } = useTime();
  const time = savedAt === undefined ? "" : isPublished ? moment(savedAt) : clock(savedAt);
  const words = () => {
    if (problem !== undefined || differences !== undefined || !isFine) return t("work.notSaved");
    if (isUnsaved && isPublished) return t("work.changed");
    if (isUnsaved || isSaving) return t("work.saving");
    if (savedAt === undefined) return t("work.blank");
    return isPublished ? t("work.seen", { time }) : t("work.saved", { time });
  };
  return <output className="text-soft text-sm">{words()}</output>;
}
