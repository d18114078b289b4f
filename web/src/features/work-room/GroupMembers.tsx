import { useTranslation } from "react-i18next";

import { Avatar } from "../../components/base/Avatar";
import { personColors } from "../../components/base/people";
import { numberedName } from "../lesson/groupNames";
import type { WorkRoom } from "./workRoom";

export interface Member {
  id: string;
  name: string;
  color: number;
  isHere: boolean;
  isWriting: boolean;
}

/** The members of a group with their colours, and who of them is here. */
export function listGroupMembers(workRoom: WorkRoom): Member[] {
  const colors = personColors(workRoom.members.map((member) => member.userId));
  return workRoom.members.map((member) => ({
    id: member.userId,
    name: member.user.name,
    color: colors.get(member.userId) ?? 0,
    isHere: workRoom.online.includes(member.userId),
    isWriting: workRoom.writing.includes(member.userId),
  }));
}

/** The members of the group in a panel, with names. */
export function GroupMembers({ workRoom }: { workRoom: WorkRoom }) {
  const { t } = useTranslation();
  const members = listGroupMembers(workRoom);
  return (
    <>
      <p className="text-soft">{numberedName(workRoom.group)}</p>
      <ul aria-label={t("room.members")} className="divide-faint flex flex-col divide-y">
        {members.map((member) => (
          <li key={member.id} className="flex min-h-11 items-center gap-3">
            <Avatar name={member.name} color={member.color} size="medium" isAway={!member.isHere} />
            <span className="min-w-0 grow wrap-break-word">{member.name}</span>
            <span className="text-soft text-note">
              {t(member.isWriting ? "room.writing" : member.isHere ? "room.here" : "room.away")}
            </span>
          </li>
        ))}
      </ul>
      <p className="text-soft text-sm">{t("room.teacherIs", { name: workRoom.teacher.name })}</p>
    </>
  );
}
