import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { boardQuery } from "../board/board";
import { PageHeading } from "../../components/PageHeading";
import { TimeLeft } from "../../components/base/TimeLeft";
import { SubmissionStatus } from "./SubmissionStatus";
import { HelpButton } from "./HelpRequest";
import { type Document, type Group, userNames, type GroupTopic, type WorkRoom } from "./workRoom";

interface Props {
  workRoom: WorkRoom;
  group: Group | null | undefined;
  topic: GroupTopic | undefined;
  document: Document | undefined;
  isStaff: boolean;
  isArchived: boolean;
}

/** Header of a room: topic, group, members, remaining time, and the main actions of the group. */
export function RoomHeader({ workRoom, group, topic, document, isStaff, isArchived }: Props) {
  const { t } = useTranslation();
  const name = t("groups.group", { number: workRoom.group.groupNumber, name: userNames(workRoom.group) });
  const title = topic?.assignment.title ?? name;
  return (
    <section
      aria-label={t("room.title")}
      data-part
      tabIndex={-1}
      className="flex flex-wrap items-center gap-x-6 gap-y-2 outline-none"
    >
      <div className="min-w-0">
        {document ? (
          <p className="text-lg font-semibold">
            <Link
              to="/groups/$groupId"
              params={{ groupId: workRoom.groupId }}
              search={topic ? { topic: topic.assignmentId } : {}}
              className="text-ink"
            >
              {title}
            </Link>
          </p>
        ) : (
          <PageHeading title={title}>
            <span className="break-words">{title}</span>
          </PageHeading>
        )}
        <div className={`text-soft gap-x-2 ${document ? "hidden sm:flex" : "flex"} flex-wrap`}>
          {topic ? <span>{name} ·</span> : null}
          <MemberNames workRoom={workRoom} topic={topic} isStaff={isStaff} />
        </div>
      </div>
      <span className="ms-auto flex flex-wrap items-center gap-x-5 gap-y-2 sm:justify-end">
        {topic && topic.assignment.status === "ACTIVE" && topic.status !== "SUBMITTED" && topic.status !== "GRADED" ? (
          <span className="font-medium">
            <TimeLeft until={topic.lateAllowedUntil ?? topic.assignment.deadline} />
          </span>
        ) : null}
        {isStaff || isArchived || !group ? null : <HelpButton group={group} />}
        {isArchived ? null : <SubmissionStatus workRoom={workRoom} topic={topic} document={document} />}
      </span>
    </section>
  );
}

/** The members of the group. Presence is visible to staff only, because the API returns it to staff only. */
function MemberNames({
  workRoom,
  topic,
  isStaff,
}: {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  isStaff: boolean;
}) {
  const { t } = useTranslation();
  const { data } = useQuery({ ...boardQuery(topic?.assignmentId ?? ""), enabled: isStaff && topic !== undefined });
  const card = data?.groups.find((one) => one.group.id === workRoom.groupId);
  if (card === undefined) return <span>{workRoom.members.map((member) => member.user.name).join(", ")}</span>;
  return (
    <ul aria-label={t("room.members")} className="flex flex-wrap gap-x-3">
      {card.members.map((member) => (
        <li key={member.user.id} className="flex items-center gap-1">
          <svg
            aria-hidden="true"
            viewBox="0 0 10 10"
            className={`size-2.5 ${member.online ? "text-good" : "text-soft"}`}
          >
            <circle
              cx="5"
              cy="5"
              r="4"
              fill={member.online ? "currentColor" : "none"}
              stroke="currentColor"
              strokeWidth="1.5"
            />
          </svg>
          {member.user.name}
          <span className="sr-only">{t(member.online ? "room.here" : "room.away")}</span>
          {card.writing.includes(member.user.id) ? <span className="text-sm">({t("room.writing")})</span> : null}
        </li>
      ))}
    </ul>
  );
}
