import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useRouteContext } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { Problem } from "../../api/client";
import { addEventListener } from "../../api/realtime";
import { isStaff } from "../../auth/session";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { hasNewFeedback } from "../feedback/feedback";
import { serverNow } from "../../hooks/serverClock";
import { DocumentRoom } from "./DocumentRoom";
import { RoomBanners } from "./RoomBanners";
import { RoomLayout } from "./RoomLayout";
import { GroupUnavailable } from "./GroupUnavailable";
import { RoomHeader } from "./RoomHeader";
import { groupQuery, sortTopics, workRoomQuery, type WorkRoom } from "./workRoom";
import { useLandmarkNavigation } from "./screen";
import { applyChatEvent } from "./chatEvents";
import { EditorPreload } from "./EditorPreload";
import { classQuery } from "../classes/classes";
import { type Section } from "./sections";

interface Props {
  groupId: string;
  section?: Section | undefined;
  /** The selected topic, where the group has several. */
  topicId?: string | undefined;
  documentId?: string | undefined;
  /** On phones a document opens read-only until the user chooses to edit. */
  isWriting?: boolean;
}

/** The work room: task, documents, chat and feedback, always in this order. */
export function Room(props: Props) {
  const { t } = useTranslation();
  const found = useQuery(workRoomQuery(props.groupId));
  if (found.error instanceof Problem && [403, 404].includes(found.error.status))
    return <GroupUnavailable groupId={props.groupId} left={found.data} />;
  if (found.data) return <WorkRoomContent {...props} found={found.data} />;
  if (found.isPending) return <Skeleton />;
  return (
    <div className="flex flex-col gap-4">
      <PageHeading title={t("room.title")}>{t("room.title")}</PageHeading>
      <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
    </div>
  );
}

function WorkRoomContent({
  groupId,
  section,
  topicId,
  documentId,
  isWriting = false,
  found: workRoom,
}: Props & { found: WorkRoom }) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const own = useQuery(groupQuery(groupId));
  const topics = sortTopics(workRoom.groupAssignments);
  const document = workRoom.documents.find((one) => one.id === documentId);
  const topic =
    topics.find((one) => one.assignmentId === topicId) ??
    topics.find((one) => one.assignmentId === document?.assignmentId) ??
    topics[0];
  const { data: classData } = useQuery({
    ...classQuery(own.data?.classId ?? ""),
    enabled: own.data !== undefined && own.data !== null,
  });
  const isArchived = classData?.status === "ARCHIVED";
  // Unread count when the room was opened; reading messages decreases the count of the query.
  const [unread] = useState(workRoom.unreadCount);
  useUnreadInTitle(workRoom.unreadCount);
  useChatEvents(workRoom.id, person.id);
  useLandmarkNavigation();
  if (documentId !== undefined && document === undefined) {
    return (
      <div className="flex flex-col items-start gap-3">
        <PageHeading title={t("missing.title")}>{t("missing.title")}</PageHeading>
        <p>{t("problem.NOT_FOUND")}</p>
        <Link to="/groups/$groupId" params={{ groupId }} className="inline-flex min-h-11 items-center">
          {t("room.toRoom")}
        </Link>
      </div>
    );
  }
  const hasNews = topic !== undefined && !isStaff(person) && hasNewFeedback(person.id, topic, serverNow());
  if (document)
    return (
      <DocumentRoom
        workRoom={workRoom}
        group={own.data}
        topic={topic}
        document={document}
        person={person}
        unread={unread}
        hasNews={hasNews}
        isArchived={isArchived}
        isWriting={isWriting}
      />
    );
  return (
    <div className="flex flex-col gap-4 xl:h-[calc(100dvh-7.25rem)] xl:min-h-[34rem]">
      <RoomHeader
        workRoom={workRoom}
        group={own.data}
        topic={topic}
        isStaff={isStaff(person)}
        isArchived={isArchived}
      />
      <RoomBanners
        workRoom={workRoom}
        group={own.data}
        topic={topic}
        person={person.id}
        isStaff={isStaff(person)}
        isArchived={isArchived}
      />
      <RoomLayout
        workRoom={workRoom}
        group={own.data}
        topics={topics}
        topic={topic}
        section={section}
        person={person}
        unread={unread}
        hasNews={hasNews}
        isArchived={isArchived}
      />
      <EditorPreload document={workRoom.documents[0]} />
    </div>
  );
}

/** Shows the number of unread messages in the page title, for users in other tabs. The heading resets the title whenever it changes. */
function useUnreadInTitle(count: number): void {
  useEffect(() => {
    const plain = document.title.replace(/^\(\d+\) /, "");
    document.title = count > 0 ? `(${count}) ${plain}` : plain;
  });
}

/** Applies chat events to the cached messages. */
function useChatEvents(workRoomId: string, own: string): void {
  const cache = useQueryClient();
  useEffect(
    () => addEventListener((event, payload) => applyChatEvent(cache, workRoomId, own, event, payload)),
    [cache, workRoomId, own],
  );
}
