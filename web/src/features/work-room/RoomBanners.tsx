import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { LockBanner } from "../../components/base/LockBanner";
import { Time } from "../../components/base/Time";
import { HelpRequestBanner } from "./HelpRequest";
import { TeacherMessage } from "./TeacherMessage";
import { type Group, type GroupTopic, topicDetailQuery, useUserName, type WorkRoom } from "./workRoom";

/** Banners of a room: locked, a message of the teacher, or visited by a teacher. */
export function RoomBanners({
  workRoom,
  group,
  topic,
  person,
  isStaff,
  isArchived,
}: {
  workRoom: WorkRoom;
  group: Group | null | undefined;
  topic: GroupTopic | undefined;
  /** Id of the user. */
  person: string;
  isStaff: boolean;
  isArchived: boolean;
}) {
  const { t } = useTranslation();
  return (
    <>
      {isArchived ? <LockBanner>{t("room.archived")}</LockBanner> : null}
      {isStaff ? null : <TeacherMessage workRoom={workRoom} person={person} />}
      {topic?.assignment.status === "FINISHED" ? <FinishedBanner workRoom={workRoom} topic={topic} /> : null}
      {isStaff ? (
        <div className="border-line flex flex-wrap items-center gap-x-4 rounded-xl border border-dashed px-4 py-0.5">
          <span className="py-2">{t("room.visit")}</span>
          {topic ? (
            <>
              <Link
                to="/topics/$topicId/board"
                params={{ topicId: topic.assignmentId }}
                className="inline-flex min-h-11 items-center"
              >
                {t("room.toBoard")}
              </Link>
              <Link
                to="/topics/$topicId/work/$groupId"
                params={{ topicId: topic.assignmentId, groupId: workRoom.groupId }}
                className="inline-flex min-h-11 items-center"
              >
                {t("room.toWork")}
              </Link>
            </>
          ) : null}
          {group && !isArchived ? <HelpRequestBanner group={group} /> : null}
        </div>
      ) : null}
    </>
  );
}

function FinishedBanner({ workRoom, topic }: { workRoom: WorkRoom; topic: GroupTopic }) {
  const { t } = useTranslation();
  const nameOf = useUserName(workRoom);
  const { data } = useQuery(topicDetailQuery(topic.assignmentId));
  return (
    <LockBanner>
      {data?.finishedAt ? (
        <>
          {t("room.finishedBy", {
            name: data.finishedById === workRoom.teacher.id ? nameOf(data.finishedById) : t("room.aTeacher"),
          })}{" "}
          <Time at={data.finishedAt} />.{" "}
        </>
      ) : null}
      {t("room.finished")}
    </LockBanner>
  );
}
