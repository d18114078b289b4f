import { Link } from "@tanstack/react-router";
import { MapPin } from "lucide-react";
import { useTranslation } from "react-i18next";

import { hasNewFeedback } from "../feedback/feedback";
import { serverNow, useNow } from "../../hooks/serverClock";
import { type ListedGroup, nearestTopic } from "../groups/groups";
import { StateChip } from "../../components/base/StateChip";
import { Badge } from "../../components/base/Badge";
import { Card } from "../../components/Card";
import { TimeLeft } from "../../components/base/TimeLeft";
import { Time } from "../../components/base/Time";
import { WorkChip } from "../lesson/WorkChip";
import { numberedName } from "../lesson/groupNames";

/** Card of one of the user's groups: the whole card is the link, named after the topic. */
export function GroupCard({ group, own }: { group: ListedGroup; own: string }) {
  const { t } = useTranslation();
  const topic = nearestTopic(group);
  const isFinished = topic?.assignment.status === "FINISHED";
  const isDone = topic !== undefined && (topic.status === "SUBMITTED" || topic.status === "GRADED");
  const others = group.groupAssignments.filter(
    (one) => one.assignment.status === "ACTIVE" && one.id !== topic?.id,
  ).length;
  const now = useNow(30_000);
  const hasNews = group.groupAssignments.some((one) => hasNewFeedback(own, one, serverNow()));
  return (
    <Card className="hover:border-line relative flex h-full flex-col gap-2">
      <p className="text-soft text-sm">{[group.class.name, group.subject?.name].filter(Boolean).join(" › ")}</p>
      <h2>
        <Link to="/groups/$groupId" params={{ groupId: group.id }} className="break-words after:absolute after:inset-0">
          {topic?.assignment.title ?? t("groups.noTopic")}
        </Link>
      </h2>
      <p>{numberedName(group)}</p>
      <p className="text-soft text-sm">{group.members.map((member) => member.user.name).join(", ")}</p>
      {group.meetingPlace ? (
        <p className="flex items-center gap-1 text-sm break-words">
          <MapPin aria-hidden="true" className="size-4 shrink-0" /> {group.meetingPlace}
        </p>
      ) : null}
      {topic ? (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <WorkChip
            facts={{
              status: topic.status,
              isLate: topic.currentSubmission?.isLate ?? false,
              deadline: topic.lateAllowedUntil ?? topic.assignment.deadline,
              isFinished: isFinished === true,
            }}
            now={now}
          />
          {isFinished || isDone ? null : (
            <>
              <span className="font-medium">
                <TimeLeft until={topic.lateAllowedUntil ?? topic.assignment.deadline} />
              </span>
              <span className="text-soft text-sm">
                {t("groups.ends")} <Time at={topic.assignment.deadline} />
              </span>
            </>
          )}
          {topic.status === "SUBMITTED" && topic.currentSubmission ? (
            <span className="text-soft text-sm">
              <Time at={topic.currentSubmission.submittedAt} />
            </span>
          ) : null}
        </p>
      ) : null}
      {others > 0 ? <p className="text-soft text-sm">{t("groups.others", { count: others })}</p> : null}
      <p className="mt-auto flex flex-wrap items-center gap-2">
        {hasNews ? <Badge tone="warn">{t("groups.feedback")}</Badge> : null}
        {group.unreadMessages ? <Badge tone="warn">{t("groups.unread", { count: group.unreadMessages })}</Badge> : null}
        {group.needsHelp && group.helpWithdrawnAt === null ? (
          <StateChip state="help">{t("groups.helpKnown")}</StateChip>
        ) : null}
      </p>
    </Card>
  );
}
