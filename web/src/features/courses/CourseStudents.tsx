import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Schemas } from "../../api/client";
import { foldCase } from "../../i18n/names";
import { Avatar } from "../../components/base/Avatar";
import { personColor } from "../../components/base/people";
import { useLongList } from "../../components/LongList";
import { SearchField } from "../../components/SearchField";
import { GroupName } from "../lesson/GroupName";
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
  return <StudentRows students={found.data} groups={groups} canChange={canChange} />;
}

function StudentRows({
  students,
  groups,
  canChange,
}: {
  students: readonly Schemas["ClassStudent"][];
  groups: readonly ListedGroup[];
  canChange: boolean;
}) {
  const { t } = useTranslation();
  const [search, setSearch] = useState("");
  const wanted = foldCase(search);
  const rows = withGroups(students, groups);
  const ungrouped = rows.filter((line) => line.group === undefined).length;
  const matching = rows.filter(({ student, group }) =>
    [student.user.name, group ? numberedName(group) : ""].some((text) => foldCase(text).includes(wanted)),
  );
  const { shown, rest } = useLongList(`students:${groups[0]?.courseId}:${wanted}`, matching);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <SearchField label={t("courses.findStudent")} value={search} onChange={setSearch} />
        {groups.length > 0 ? (
          <p className="text-soft">
            {ungrouped === 0 ? t("courses.allHaveGroup") : t("courses.withoutCount", { count: ungrouped })}
          </p>
        ) : null}
      </div>
      {matching.length === 0 ? <p className="text-soft">{t("courses.nobodyFound")}</p> : null}
      <ul className="bg-sheet border-faint divide-faint divide-y rounded-xl border shadow-xs empty:hidden">
        {shown.map(({ student, group }) => (
          <li key={student.user.id} className="flex min-h-11 items-center gap-3 py-0.5 ps-4 pe-1">
            <div className="flex min-w-0 grow flex-wrap items-center gap-x-4 sm:grid sm:grid-cols-2">
              <span className="inline-flex min-w-0 items-center gap-2 wrap-break-word">
                <Avatar name={student.user.name} color={personColor(student.user.id)} />
                {student.user.name}
              </span>
              {group ? (
                <Link to="/groups/$groupId" params={{ groupId: group.id }} className="text-ink py-1">
                  <GroupName group={group} />
                </Link>
              ) : (
                <span>
                  <Badge tone="warn">{t("courses.withoutGroup")}</Badge>
                </span>
              )}
            </div>
            {canChange && groups.length > (group ? 1 : 0) ? (
              <span className="reveal">
                <MemberMenu group={group} groups={groups} person={student.user} />
              </span>
            ) : null}
          </li>
        ))}
      </ul>
      {rest}
    </div>
  );
}
