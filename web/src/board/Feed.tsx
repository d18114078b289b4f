import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, data, type Schemas } from "../api/client";
import { queryKeys } from "../lib/queryKeys";
import { useTime } from "../lib/time";
import { useQuiet } from "../lib/whenQuiet";
import { type Board, called } from "./board";

/** What is told, of all that is logged. */
const TOLD = ["SUBMISSION_SUBMIT", "SUBMISSION_UNSUBMIT", "SUBMISSION_RETURN", "DOCUMENT_CREATE", "DOCUMENT_DELETE", "HELP_REQUESTED", "HELP_RESOLVED", "GROUP_MEMBER_MOVED"] as const;
type Told = (typeof TOLD)[number];

/** The last things that happened in the groups of the topic, out of the log. */
export function Feed({ found }: { found: Board }) {
  const { t } = useTranslation();
  const { moment, clock, day } = useTime();
  const rows = useQuery({ ...latest(found), enabled: useQuiet(), placeholderData: keepPreviousData }).data ?? [];
  const groups = new Map(found.groups.map((card) => [card.group.id as string, card.group]));
  const today = day(found.serverNow);
  const told = rows.flatMap((row) => {
    const event = TOLD.find((one) => one === row.event);
    const group = groups.get(row.groupId ?? "");
    const isOther = row.assignmentId !== null && row.assignmentId !== found.assignment.id;
    return event === undefined || group === undefined || isOther ? [] : [{ row, event, group }];
  });
  if (told.length === 0) return <p className="text-soft">{t("board.nothingYet")}</p>;
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {told.slice(0, 8).map(({ row, event, group }) => (
        <li key={row.id} className="flex gap-2">
          <time dateTime={row.createdAt} className="text-soft shrink-0 tabular-nums">
            {day(row.createdAt) === today ? clock(row.createdAt) : moment(row.createdAt)}
          </time>
          <span className="min-w-0 break-words">{t(`board.feed.${event satisfies Told}`, { name: called(group) })}</span>
        </li>
      ))}
    </ul>
  );
}

/** The log of the class, asked anew when something on the board itself has changed: it tells nothing the board does not show. */
function latest(found: Board) {
  const news = found.groups.map((card) => [card.documents.length, card.groupAssignment.status, card.needsHelp, card.members.length].join()).join(";");
  return {
    queryKey: queryKeys.activity.board(found.assignment.id, news),
    queryFn: async (): Promise<readonly Schemas["ActivityLog"][]> =>
      (await data(client.GET("/activity-logs", { params: { query: { classId: found.assignment.classId, limit: 25 } } }))).data,
    gcTime: 60_000,
  };
}
