import { useTranslation } from "react-i18next";

import { PageHeading } from "../../components/PageHeading";
import { Avatar } from "../../components/base/Avatar";
import { TimeLeft } from "../../components/base/TimeLeft";
import { numberedName } from "../lesson/groupNames";
import { listGroupMembers } from "./GroupMembers";
import { RoomActions } from "./RoomBar";
import { type Group, type GroupTopic, type WorkRoom } from "./workRoom";

interface Props {
  workRoom: WorkRoom;
  group: Group | null | undefined;
  topic: GroupTopic | undefined;
  isStaff: boolean;
  isArchived: boolean;
}

/** Header of a room without an open document: topic, group, members, remaining time, and the main actions of the group. */
export function RoomHeader({ workRoom, group, topic, isStaff, isArchived }: Props) {
  const { t } = useTranslation();
  const name = numberedName(workRoom.group);
  const title = topic?.assignment.title ?? name;
  const members = listGroupMembers(workRoom);
  return (
    <section
      aria-label={t("room.title")}
      data-part
      tabIndex={-1}
      className="flex flex-wrap items-end gap-x-6 gap-y-3 outline-none"
    >
      <div className="min-w-0">
        {topic ? <p className="text-soft text-note">{name}</p> : null}
        <PageHeading title={title}>
          <span className="break-words">{title}</span>
        </PageHeading>
        <ul aria-label={t("room.members")} className="text-soft mt-1.5 flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {members.map((member) => (
            <li key={member.id} className="flex items-center gap-1.5">
              <Avatar name={member.name} color={member.color} isAway={!member.isHere} />
              {member.name}
              <span className="sr-only">{t(member.isHere ? "room.here" : "room.away")}</span>
              {member.isWriting ? <span>({t("room.writing")})</span> : null}
            </li>
          ))}
        </ul>
      </div>
      <span className="ms-auto flex flex-wrap items-center gap-x-4 gap-y-2 sm:justify-end">
        {topic && topic.assignment.status === "ACTIVE" && topic.status !== "SUBMITTED" && topic.status !== "GRADED" ? (
          <span className="font-medium">
            <TimeLeft until={topic.lateAllowedUntil ?? topic.assignment.deadline} hasBar />
          </span>
        ) : null}
        <RoomActions
          workRoom={workRoom}
          group={group}
          topic={topic}
          document={undefined}
          isStaff={isStaff}
          isArchived={isArchived}
        />
      </span>
    </section>
  );
}
