import { useTranslation } from "react-i18next";

import type { Mark } from "./rubrics";

/** The filled criteria of a grade with their points and comments. */
export function FilledRubric({ marks }: { marks: readonly Mark[] }) {
  const { t, i18n } = useTranslation();
  if (marks.length === 0) return null;
  const number = new Intl.NumberFormat(i18n.language === "en" ? "en-GB" : i18n.language);
  const sum = (values: (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  const ofMax = (points: number | null, max: number | null) =>
    points === null || max === null
      ? null
      : t("work.pointsOf", { points: number.format(points), max: number.format(max) });
  const total = ofMax(sum(marks.map((mark) => mark.points)), sum(marks.map((mark) => mark.maxPoints)));
  return (
    <section aria-label={t("rubrics.criteria")} className="border-faint rounded-lg border">
      <ul className="divide-faint divide-y">
        {marks.map((mark) => (
          <li key={mark.criterionId} className="flex flex-col px-3 py-2">
            <p className="flex flex-wrap items-baseline gap-x-3">
              <span className="text-soft min-w-0 grow basis-32 wrap-anywhere">{mark.criterion}</span>
              {mark.level === null ? null : <strong className="min-w-0 wrap-anywhere">{mark.level}</strong>}
              <span className="text-soft text-sm tabular-nums">{ofMax(mark.points, mark.maxPoints)}</span>
            </p>
            {mark.comment === null ? null : <p className="whitespace-pre-wrap wrap-anywhere">{mark.comment}</p>}
          </li>
        ))}
      </ul>
      {total === null ? null : (
        <p className="border-faint flex justify-between gap-3 border-t px-3 py-2 font-semibold">
          {t("rubrics.total")} <span className="tabular-nums">{total}</span>
        </p>
      )}
    </section>
  );
}
