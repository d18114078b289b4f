import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { useTime } from "../../i18n/time";
import { useIsIdle } from "../../hooks/prefetchWhenIdle";
import { type Board } from "./board";
import { numberedName } from "../lesson/groupNames";

/** Logged events that the list shows. */
const SHOWN_EVENTS = [
  "SUBMISSION_SUBMIT",
  "SUBMISSION_UNSUBMIT",
  "SUBMISSION_RETURN",
  "DOCUMENT_CREATE",
  "DOCUMENT_DELETE",
  "HELP_REQUESTED",
  "HELP_WITHDRAWN",
  "HELP_RESOLVED",
  "GROUP_MEMBER_MOVED",
] as const;
type ShownEvent = (typeof SHOWN_EVENTS)[number];

/** The latest events in the groups of the topic, from the activity log. */
export function RecentActivity({ board }: { board: Board }) {
  const { t } = useTranslation();
  const { moment, clock, day } = useTime();
  const rows = useQuery({ ...latestQuery(board), enabled: useIsIdle(), placeholderData: keepPreviousData }).data ?? [];
  const groups = new Map(board.groups.map((card) => [card.group.id as string, card.group]));
  const today = day(board.serverNow);
  const events = rows.flatMap((row) => {
    const event = SHOWN_EVENTS.find((one) => one === row.event);
    const group = groups.get(row.groupId ?? "");
    const isOther = row.assignmentId !== null && row.assignmentId !== board.assignment.id;
    return event === undefined || group === undefined || isOther ? [] : [{ row, event, group }];
  });
  if (events.length === 0) return <p className="text-soft">{t("board.nothingYet")}</p>;
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {events.slice(0, 8).map(({ row, event, group }) => (
        <li key={row.id} className="flex gap-2">
          <time dateTime={row.createdAt} className="text-soft shrink-0 tabular-nums">
            {day(row.createdAt) === today ? clock(row.createdAt) : moment(row.createdAt)}
          </time>
          <span className="min-w-0 break-words">
            {t(`board.feed.${event satisfies ShownEvent}`, { name: numberedName(group) })}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The log of the class. Refetched when the board changes, so it never shows more than the board does. */
function latestQuery(board: Board) {
  const news = board.groups
    .map((card) =>
      [
        card.documents.length,
        card.groupAssignment.status,
        card.needsHelp,
        card.helpWithdrawnAt,
        card.members.length,
      ].join(),
    )
    .join(";");
  return {
    queryKey: queryKeys.activity.board(board.assignment.id, news),
    queryFn: async (): Promise<readonly Schemas["ActivityLog"][]> =>
      (
        await unwrap(
          client.GET("/activity-logs", { params: { query: { classId: board.assignment.classId, limit: 25 } } }),
        )
      ).data,
    gcTime: 60_000,
  };
}
