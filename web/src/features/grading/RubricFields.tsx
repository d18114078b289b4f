import { useTranslation } from "react-i18next";
import { Label, Radio, RadioGroup } from "react-aria-components";

import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { type Criterion, type Level, typedPoints } from "../rubrics/rubrics";
import { type GradeForm, type MarkForm, NO_MARK, parsePoints } from "./gradeForm";

interface Props {
  criteria: readonly Criterion[];
  marks: GradeForm["rubric"];
  onChange: (marks: GradeForm["rubric"]) => void;
  maxPoints: number | null;
  /** The points of the grade, as typed. */
  points: string;
  onUseSum: (points: string) => void;
}

const isRange = (level: Level | undefined): boolean => level?.maxPoints != null && level.minPoints !== level.maxPoints;

/** Fills the rubric of the topic: a level, points of a range, and a comment per criterion. Shows the total. */
export function RubricFields({ criteria, marks, onChange, maxPoints, points, onUseSum }: Props) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language === "en" ? "en-GB" : i18n.language);
  const levelOf = (criterion: Criterion) => criterion.levels.find((level) => level.id === marks[criterion.id]?.levelId);
  const missing = criteria.filter((criterion) => levelOf(criterion) === undefined).length;
  const most = criteria.map(({ levels }) => Math.max(...levels.map((level) => level.maxPoints ?? -1)));
  const max = most.filter((value) => value >= 0).reduce((sum, value) => sum + value, 0);
  const hasPoints = most.some((value) => value >= 0);
  const sum = criteria.reduce((total, { id }) => total + (parsePoints(marks[id]?.points ?? "") ?? 0), 0);
  const isStarted = missing < criteria.length;
  // The sum is offered, never forced: the teacher may give other points.
  const canUse = isStarted && maxPoints !== null && sum <= maxPoints && parsePoints(points) !== sum;
  return (
    <section aria-label={t("rubrics.title")} className="flex flex-col gap-4">
      {criteria.map((criterion) => (
        <CriterionMark
          key={criterion.id}
          criterion={criterion}
          mark={marks[criterion.id] ?? NO_MARK}
          onChange={(mark) => onChange({ ...marks, [criterion.id]: mark })}
        />
      ))}
      <div className="flex flex-wrap items-center gap-x-3">
        {hasPoints ? (
          <output className="font-semibold tabular-nums">
            {t("rubrics.sum", { points: number.format(sum), max: number.format(max) })}
          </output>
        ) : null}
        {canUse && hasPoints ? (
          <Button kind="quiet" className="px-2" onPress={() => onUseSum(String(sum))}>
            {t("rubrics.useSum", { points: number.format(sum) })}
          </Button>
        ) : null}
      </div>
      {isStarted && missing > 0 ? (
        <p className="text-soft text-sm">{t("rubrics.missing", { count: missing })}</p>
      ) : null}
    </section>
  );
}

function CriterionMark({
  criterion,
  mark,
  onChange,
}: {
  criterion: Criterion;
  mark: MarkForm;
  onChange: (mark: MarkForm) => void;
}) {
  const { t, i18n } = useTranslation();
  const comma = new Intl.NumberFormat(i18n.language).format(0.5).charAt(1);
  const level = criterion.levels.find((one) => one.id === mark.levelId);
  const choose = (id: string) => {
    const chosen = criterion.levels.find((one) => one.id === id);
    // A fixed number is the points; those of another range are typed again.
    const points = chosen?.maxPoints == null || isRange(chosen) ? "" : String(chosen.maxPoints);
    onChange({ ...mark, levelId: id, points });
  };
  const typed = parsePoints(mark.points);
  const isOutside =
    typed === undefined ||
    (typed !== null && level?.minPoints != null && level.maxPoints !== null
      ? typed < level.minPoints || typed > level.maxPoints
      : false);
  return (
    <div className="flex flex-col gap-2">
      <RadioGroup value={mark.levelId} onChange={choose} className="flex flex-col gap-1">
        <Label className="font-medium wrap-anywhere">{criterion.title}</Label>
        <div className="border-line divide-faint flex flex-col divide-y overflow-hidden rounded-lg border">
          {[...criterion.levels, null].map((one) =>
            one === null && mark.levelId === "" ? null : (
              <Radio
                key={one?.id ?? ""}
                value={one?.id ?? ""}
                className="data-selected:bg-sunk data-focus-visible:outline-accent min-h-control flex cursor-pointer items-center gap-3 px-3 py-1.5 -outline-offset-3 data-focus-visible:outline-3 data-selected:font-semibold"
              >
                {one === null ? (
                  <span className="text-soft">{t("rubrics.noLevel")}</span>
                ) : (
                  <>
                    <svg aria-hidden="true" viewBox="0 0 10 10" className="text-accent size-3 shrink-0">
                      <circle cx="5" cy="5" r="4" fill="none" stroke="currentColor" />
                      {mark.levelId === one.id ? <circle cx="5" cy="5" r="2.5" fill="currentColor" /> : null}
                    </svg>
                    <span className="min-w-0 grow wrap-anywhere">
                      {one.label}
                      {one.description === null ? null : (
                        <span className="text-soft block text-sm font-normal">{one.description}</span>
                      )}
                    </span>
                    <span className="text-soft shrink-0 text-sm font-normal tabular-nums">{typedPoints(one)}</span>
                  </>
                )}
              </Radio>
            ),
          )}
        </div>
      </RadioGroup>
      {level !== undefined && isRange(level) ? (
        <TextField
          label={t("rubrics.pointsOf", { range: typedPoints(level) })}
          value={mark.points.replace(".", comma)}
          onChange={(points) => onChange({ ...mark, points })}
          inputMode="decimal"
          maxLength={10}
          problem={isOutside ? t("rubrics.rangeWrong", { range: typedPoints(level) }) : undefined}
        />
      ) : null}
      {mark.levelId === "" && mark.comment === "" ? null : (
        <TextField
          label={t("rubrics.comment")}
          value={mark.comment}
          onChange={(comment) => onChange({ ...mark, comment })}
          maxLength={1000}
        />
      )}
    </div>
  );
}
