import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Card } from "../../components/Card";
import { Time } from "../../components/base/Time";
import { topicWorksQuery } from "../grading/work";
import { TopicActions } from "./TopicActions";
import { countDraftGrades, countShares, type Stats } from "./submissions";

/** Progress of the groups of each topic, and actions on all their works. */
export function SubmissionStats({ stats, isOne }: { stats: readonly Stats[]; isOne: boolean }) {
  const { t } = useTranslation();
  if (stats.length === 0) return null;
  return (
    <section aria-label={t("submissions.totals")} className="flex flex-col gap-3">
      <h2>{t("submissions.totals")}</h2>
      <ul className="grid gap-3 lg:grid-cols-2">
        {stats.map((one) => (
          <li key={one.assignmentId} className={isOne ? "lg:col-span-2" : ""}>
            <TopicStats stats={one} isOne={isOne} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function TopicStats({ stats, isOne }: { stats: Stats; isOne: boolean }) {
  const { t } = useTranslation();
  // Lists contain no grades, so drafts are counted only where work waits for a grade.
  const found = useQuery({ ...topicWorksQuery(stats.assignmentId), enabled: stats.submitted > 0 });
  const draftCount = stats.submitted > 0 ? found.data && countDraftGrades(found.data) : 0;
  return (
    <Card className="flex h-full flex-col gap-3">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4">
        {isOne ? (
          <strong>{stats.title}</strong>
        ) : (
          <Link
            to="/submissions"
            search={{ assignmentId: stats.assignmentId }}
            className="inline-flex min-h-6 font-semibold"
          >
            {stats.title}
          </Link>
        )}
        <span className="text-soft text-sm">
          {t("submissions.until")} <Time at={stats.deadline} />
        </span>
      </p>
      <ShareBar stats={stats} />
      <TopicActions
        topicId={stats.assignmentId}
        title={stats.title}
        draftCount={draftCount}
        submitted={stats.submitted + stats.graded}
        missing={countShares(stats).missing}
      />
    </Card>
  );
}

const FILLS = { graded: "text-good", submitted: "text-accent", missing: "text-faint" } as const;

/** Shares as a bar; the numbers below state the same without relying on colour. */
function ShareBar({ stats }: { stats: Stats }) {
  const { t } = useTranslation();
  const parts = countShares(stats);
  const all = Math.max(1, stats.groups);
  const names = ["graded", "submitted", "missing"] as const;
  return (
    <div className="flex flex-col gap-2">
      <svg
        aria-hidden="true"
        viewBox="0 0 100 4"
        preserveAspectRatio="none"
        className="border-line h-3 w-full overflow-hidden rounded-full border"
      >
        {names.map((name, index) => (
          <rect
            key={name}
            className={FILLS[name]}
            fill="currentColor"
            x={(names.slice(0, index).reduce((sum, before) => sum + parts[before], 0) / all) * 100}
            width={(parts[name] / all) * 100}
            height="4"
          />
        ))}
      </svg>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
        {names.map((name) => (
          <li key={name} className="flex items-center gap-1.5">
            <svg
              aria-hidden="true"
              viewBox="0 0 10 10"
              className={`border-line size-3 rounded-sm border ${FILLS[name]}`}
            >
              <rect width="10" height="10" fill="currentColor" />
            </svg>
            {t(`submissions.share.${name}`, { count: parts[name] })}
          </li>
        ))}
        {stats.late > 0 ? <li className="text-warn">{t("submissions.share.late", { count: stats.late })}</li> : null}
      </ul>
    </div>
  );
}
