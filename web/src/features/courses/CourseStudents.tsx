import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { classStudentsQuery } from "../classes/classes";
import type { ListedGroup } from "../groups/groups";
import { buttonClass } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { EmptyState } from "../../components/base/EmptyState";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { MemberMenu } from "./CourseGroups";
import { withGroups } from "../groups/useMembers";
import { numberedName } from "../lesson/groupNames";

/** The students of the class with their group in this course; students without a group come first. */
export function CourseStudents({
  classId,
  groups,
  canChange,
}: {
  classId: string;
  groups: readonly ListedGroup[];
  canChange: boolean;
}) {
  const { t } = useTranslation();
  const found = useQuery(classStudentsQuery(classId));
  if (found.isPending) return <Skeleton />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  if (found.data.length === 0) {
    return (
      <EmptyState
        action={
          <Link to="/classes/$classId" params={{ classId }} className={buttonClass()}>
            {t("courses.toClass")}
          </Link>
        }
      >
        {t("courses.noStudents")}
      </EmptyState>
    );
  }
  const rows = withGroups(found.data, groups);
  const ungrouped = rows.filter((line) => line.group === undefined).length;
  return (
    <div className="flex flex-col gap-3">
      {groups.length > 0 ? (
        <p>{ungrouped === 0 ? t("courses.allHaveGroup") : t("courses.withoutCount", { count: ungrouped })}</p>
      ) : null}
      <ul className="bg-sheet border-faint divide-faint divide-y rounded-xl border shadow-sm">
        {rows.map(({ student, group }) => (
          <li key={student.user.id} className="flex min-h-12 items-center gap-3 py-0.5 ps-4 pe-1">
            <div className="flex min-w-0 grow flex-wrap items-center gap-x-4 sm:grid sm:grid-cols-2">
              <span className="wrap-break-word">{student.user.name}</span>
              {group ? (
                <Link to="/groups/$groupId" params={{ groupId: group.id }} className="py-2">
                  {numberedName(group)}
                </Link>
              ) : (
                <span>
                  <Badge tone="warn">{t("courses.withoutGroup")}</Badge>
                </span>
              )}
            </div>
            {canChange && groups.length > (group ? 1 : 0) ? (
              <MemberMenu group={group} groups={groups} person={student.user} />
            ) : null}
          </li>
        ))}
      </ul>
    </div>
  );
}
