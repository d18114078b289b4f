import { useTranslation } from "react-i18next";

import { type Criterion, typedPoints } from "./rubrics";

/** The criteria of a rubric with their levels, to read. */
export function CriteriaList({ criteria }: { criteria: readonly Criterion[] }) {
  const { t } = useTranslation();
  return (
    <ol className="flex flex-col gap-4">
      {criteria.map((criterion) => (
        <li key={criterion.id} className="flex flex-col gap-1">
          <p className="font-semibold wrap-anywhere">{criterion.title}</p>
          {criterion.description === null ? null : (
            <p className="text-soft text-sm whitespace-pre-wrap wrap-anywhere">{criterion.description}</p>
          )}
          <ul className="divide-faint border-faint divide-y border-y">
            {criterion.levels.map((level) => (
              <li key={level.id} className="flex flex-wrap items-baseline gap-x-3 py-1.5">
                <span className="min-w-0 grow basis-40 wrap-anywhere">
                  {level.label}
                  {level.description === null ? null : (
                    <span className="text-soft block text-sm whitespace-pre-wrap">{level.description}</span>
                  )}
                </span>
                {level.maxPoints === null ? null : (
                  <span className="text-soft text-sm tabular-nums">
                    {t("rubrics.points", { count: level.maxPoints, points: typedPoints(level) })}
                  </span>
                )}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}
