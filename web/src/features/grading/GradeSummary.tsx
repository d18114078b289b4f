import { useTranslation } from "react-i18next";

import type { Schemas } from "../../api/client";
import { Badge } from "../../components/base/Badge";
import { FilledRubric } from "../rubrics/FilledRubric";
import { Time } from "../../components/base/Time";

import { GradeFileLinks } from "./GradeFiles";

type GradeValue = Pick<Schemas["Grade"], "value" | "points">;

/** Returns a function that renders a grade in one line: scale value, points of maximum, or both. */
export function useGradeText(): (grade: GradeValue, maxPoints?: number | null) => string {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language === "en" ? "en-GB" : i18n.language);
  return ({ value, points }, maxPoints) => {
    const parts =
      points === null
        ? ""
        : maxPoints == null
          ? t("work.points", { count: points, points: number.format(points) })
          : t("work.pointsOf", { points: number.format(points), max: number.format(maxPoints) });
    return [value ?? "", parts].filter((part) => part !== "").join(" · ");
  };
}

interface Props {
  grade: Schemas["Grade"];
  maxPoints?: number | null;
  /** Resolves names of single members; undefined in the view of students, who see only their own grade. */
  nameOf?: (userId: string) => string | undefined;
}

/** A grade with its text and the grades of single members; shows whether it is still a draft. */
export function GradeSummary({ grade, maxPoints = null, nameOf }: Props) {
  const { t } = useTranslation();
  const gradeText = useGradeText();
  const text = gradeText(grade, maxPoints);
  return (
    <div className="flex flex-col gap-2">
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="sr-only">{t("work.grade")}</span>
        <strong className="text-2xl">{text === "" ? t("work.noGrade") : text}</strong>
        {grade.status === "DRAFT" ? <Badge>{t("work.draft")}</Badge> : null}
        <span className="text-soft text-sm">
          <Time at={grade.publishedAt ?? grade.gradedAt} />
        </span>
      </p>
      {grade.feedback === null ? null : <p className="break-words whitespace-pre-wrap">{grade.feedback}</p>}
      <FilledRubric marks={grade.rubric} />
      <GradeFileLinks files={grade.files} />
      {grade.memberGrades.length === 0 ? null : (
        <ul className="flex flex-col gap-2">
          {grade.memberGrades.map((own) => (
            <li key={own.userId} className="border-faint border-s-4 ps-3">
              <p>
                {nameOf ? (nameOf(own.userId) ?? t("work.someone")) : t("work.forYou")}:{" "}
                <strong>{gradeText({ value: own.value ?? null, points: own.points ?? null }, maxPoints)}</strong>
              </p>
              {own.feedback == null ? null : <p className="break-words whitespace-pre-wrap">{own.feedback}</p>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
