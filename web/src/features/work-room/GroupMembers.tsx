import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { Avatar } from "../../components/base/Avatar";
import { personColors } from "../../components/base/people";
import { boardQuery } from "../board/board";
import { numberedName } from "../lesson/groupNames";
import { type GroupTopic, type WorkRoom } from "./workRoom";

export interface Member {
  id: string;
  name: string;
  color: number;
  /** Undefined where the API does not show who is here. */
  isHere: boolean | undefined;
  isWriting: boolean;
}

/** The members of a group with their colours. Presence is visible to staff only, because the API returns it to staff only. */
export function useGroupMembers(workRoom: WorkRoom, topic: GroupTopic | undefined, isStaff: boolean): Member[] {
  const { data } = useQuery({ ...boardQuery(topic?.assignmentId ?? ""), enabled: isStaff && topic !== undefined });
  const card = data?.groups.find((one) => one.group.id === workRoom.groupId);
  const colors = personColors(workRoom.members.map((member) => member.userId));
  return workRoom.members.map((member) => ({
    id: member.userId,
    name: member.user.name,
    color: colors.get(member.userId) ?? 0,
    isHere: card?.members.find((one) => one.user.id === member.userId)?.online,
    isWriting: card?.writing.includes(member.userId) ?? false,
  }));
}

/** The members of the group in a panel, with names. */
export function GroupMembers({
  workRoom,
  topic,
  isStaff,
}: {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  isStaff: boolean;
}) {
  const { t } = useTranslation();
  const members = useGroupMembers(workRoom, topic, isStaff);
  return (
    <>
      <p className="text-soft">{numberedName(workRoom.group)}</p>
      <ul aria-label={t("room.members")} className="divide-faint flex flex-col divide-y">
        {members.map((member) => (
          <li key={member.id} className="flex min-h-11 items-center gap-3">
            <Avatar name={member.name} color={member.color} size="medium" isAway={member.isHere === false} />
            <span className="min-w-0 grow wrap-break-word">{member.name}</span>
            {member.isHere === undefined ? null : (
              <span className="text-soft text-note">
                {t(member.isWriting ? "room.writing" : member.isHere ? "room.here" : "room.away")}
              </span>
            )}
          </li>
        ))}
      </ul>
      <p className="text-soft text-sm">{t("room.teacherIs", { name: workRoom.teacher.name })}</p>
    </>
  );
}
