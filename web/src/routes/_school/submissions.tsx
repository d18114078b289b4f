import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { assignmentsQuery } from "../../features/groups/groups";
import { isStaff, requireRole } from "../../auth/session";
import { SubmissionFilters } from "../../features/submissions/SubmissionFilters";
import { SubmissionTable } from "../../features/submissions/SubmissionTable";
import { submissionsQuery } from "../../features/submissions/submissions";
import { SubmissionStats } from "../../features/submissions/SubmissionStats";
import { LoadMore } from "../../components/LoadMore";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { parseSubmissionFilters, type Filters as Wanted, effectiveState } from "../../features/submissions/filters";

export const Route = createFileRoute("/_school/submissions")({
  beforeLoad: requireRole(isStaff),
  validateSearch: parseSubmissionFilters,
  component: Submissions,
});

/** Submissions of all topics. The filters are stored in the URL. */
function Submissions() {
  const { t } = useTranslation();
  const wanted = Route.useSearch();
  const navigate = Route.useNavigate();
  const found = useInfiniteQuery({ ...submissionsQuery(wanted), placeholderData: (before) => before });
  const topics = useQuery(assignmentsQuery).data ?? [];
  const rows = (found.data?.pages ?? []).flatMap((page) => page.data);
  const stats = found.data?.pages[0]?.stats ?? [];
  const go = (next: Wanted) => void navigate({ search: next, replace: true });
  const isUngraded = effectiveState(wanted) === "UNGRADED";
  return (
    <div className="flex flex-col gap-5">
      <PageHeading title={t("submissions.title")}>{t("submissions.title")}</PageHeading>
      <SubmissionFilters filters={wanted} onChange={go} />
      {found.isPending ? <Skeleton count={3} /> : null}
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.data ? (
        <div aria-busy={found.isPlaceholderData} className="flex flex-col items-start gap-3">
          <output className={rows.length === 0 ? "text-lg" : "text-soft"}>
            {rows.length === 0
              ? t(isUngraded ? "submissions.nothing" : "submissions.none")
              : t(found.hasNextPage ? "submissions.countMore" : "submissions.count", { count: rows.length })}
          </output>
          {rows.length === 0 ? null : (
            <div className="w-full">
              <SubmissionTable
                rows={rows}
                filters={wanted}
                maxPointsOf={(id) => topics.find((topic) => topic.id === id)?.maxPoints ?? null}
                onSort={(sort, down) => go({ ...wanted, sort, down: down || undefined })}
              />
            </div>
          )}
          <LoadMore pages={found} />
        </div>
      ) : null}
      <SubmissionStats stats={stats} isOne={wanted.assignmentId !== undefined} />
    </div>
  );
}
