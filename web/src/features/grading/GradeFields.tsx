import { useTranslation } from "react-i18next";

import { translateIfKnown } from "../../i18n";
import { fieldError } from "../../i18n/useErrorText";
import { OptionalSelect } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { type MemberGradeForm, arePointsValid } from "./gradeForm";
import { listScaleValues } from "./work";

/** Grading scheme of a topic: scale, points, or free text. */
export interface GradingScheme {
  gradeScale: string | null;
  maxPoints: number | null;
}

interface Props extends GradingScheme {
  form: MemberGradeForm;
  onChange: (part: Partial<MemberGradeForm>) => void;
  problem?: unknown;
}

/** Fields of a grade: a select if the scale lists its values, points if the topic has them. */
export function GradeFields({ gradeScale, maxPoints, form, onChange, problem }: Props) {
  const { t, i18n } = useTranslation();
  const values = listScaleValues(gradeScale);
  const hasValue = gradeScale !== null || maxPoints === null || form.value !== "";
  const hasPoints = maxPoints !== null || gradeScale === null || form.points !== "";
  const errorAt = (path: string) => {
    const pointsText = fieldError(problem, path);
    return pointsText === undefined
      ? undefined
      : (translateIfKnown(`work.refused.${path}`, { scale: gradeScale ?? "", max: maxPoints ?? "" }) ?? pointsText);
  };
  // Decimal separator of the language; both are accepted.
  const comma = new Intl.NumberFormat(i18n.language).format(0.5).charAt(1);
  const listed = form.value === "" || values.includes(form.value) ? values : [...values, form.value];
  return (
    <div className="grid grid-cols-2 items-start gap-3">
      {!hasValue ? null : values.length > 0 ? (
        <OptionalSelect
          label={t("work.grade")}
          none={t("work.noGrade")}
          options={listed.map((value) => ({ id: value, name: value }))}
          value={form.value || null}
          onChange={(value) => onChange({ value: value ?? "" })}
          problem={errorAt("value")}
        />
      ) : (
        <TextField
          label={t("work.grade")}
          value={form.value}
          onChange={(value) => onChange({ value })}
          maxLength={20}
          hint={gradeScale === null ? undefined : t("work.scale", { scale: gradeScale })}
          problem={errorAt("value")}
        />
      )}
      {hasPoints ? (
        <TextField
          label={maxPoints === null ? t("work.pointsField") : t("work.pointsFieldOf", { max: maxPoints })}
          value={form.points.replace(".", comma)}
          onChange={(points) => onChange({ points })}
          inputMode="decimal"
          maxLength={10}
          problem={
            arePointsValid(form.points, maxPoints)
              ? errorAt("points")
              : maxPoints === null
                ? t("work.pointsWrong")
                : t("work.refused.points", { max: maxPoints })
          }
        />
      ) : null}
    </div>
  );
}
