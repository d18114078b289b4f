import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Badge } from "../../components/base/Badge";
import { Disclosure } from "../../components/Disclosure";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { FilledRubric } from "../rubrics/FilledRubric";
import { useGradeText } from "./GradeSummary";
import { gradeHistoryQuery, type Submission } from "./work";

interface Props {
  submission: Submission;
  maxPoints: number | null;
  nameOf: (userId: string) => string | undefined;
}

/** Former states of a grade, for staff: values, texts, members, author and time. Hidden while there are none. */
export function GradeHistory({ submission, maxPoints, nameOf }: Props) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const count = submission.grade?.history ?? 0;
  const found = useQuery({ ...gradeHistoryQuery(submission.id, count), enabled: isOpen });
  const gradeText = useGradeText();
  if (count < 2) return null;
  return (
    <Disclosure name={t("work.formerGrades")} count={count - 1} onOpen={setOpen}>
      {found.isPending && isOpen ? <Skeleton count={1} /> : null}
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      <ol className="flex flex-col gap-3">
        {found.data?.slice(1).map((state) => (
          <li key={state.version} className="flex flex-col gap-1">
            <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
              <strong>{gradeText(state, maxPoints) || t("work.noGrade")}</strong>
              <Badge>{t(`work.gradeState.${state.status}`)}</Badge>
            </p>
            <p className="text-soft text-sm">
              <Time at={state.changedAt} /> · {state.changedBy.name}
            </p>
            {state.feedback === null ? null : <p className="break-words whitespace-pre-wrap">{state.feedback}</p>}
            <FilledRubric marks={state.rubric} />
            {state.memberGrades.length === 0 ? null : (
              <ul className="text-sm">
                {state.memberGrades.map((own) => (
                  <li key={own.userId}>
                    {nameOf(own.userId) ?? t("work.someone")}:{" "}
                    {gradeText({ value: own.value ?? null, points: own.points ?? null }, maxPoints)}
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </Disclosure>
  );
}
