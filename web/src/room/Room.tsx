import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useRouteContext } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { hearFirst } from "../lib/live";
import { isStaff } from "../lib/session";
import { Heading } from "../ui/Heading";
import { Problems } from "../ui/Problems";
import { Shape } from "../ui/Shape";
import { Bars } from "./Bars";
import { Columns } from "./Columns";
import { Gone } from "./Gone";
import { Head } from "./Head";
import { classOf, group, inTime, type Place, room, type WorkRoom } from "./room";
import { useParts } from "./screen";
import { overhear } from "./talk";
import { Warm } from "./Warm";

interface Props {
  groupId: string;
  place?: Place | undefined;
  /** The topic that was chosen, where the group has several. */
  topicId?: string | undefined;
  documentId?: string | undefined;
  /** On a phone a document is opened for reading until somebody says otherwise. */
  isWriting?: boolean;
}

/** S11: the work room. Task, documents, chat and feedback: four places, always in this order. */
export function Room(props: Props) {
  const { t } = useTranslation();
  const found = useQuery(room(props.groupId));
  if (found.error instanceof Problem && [403, 404].includes(found.error.status)) return <Gone groupId={props.groupId} left={found.data} />;
  if (found.data) return <Inside {...props} found={found.data} />;
  if (found.isPending) return <Shape />;
  return (
    <div className="flex flex-col gap-4">
      <Heading title={t("room.title")}>{t("room.title")}</Heading>
      <Problems problem={found.error} again={() => void found.refetch()} />
    </div>
  );
}

function Inside({ groupId, place, topicId, documentId, isWriting = false, found }: Props & { found: WorkRoom }) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const own = useQuery(group(groupId));
  const topics = inTime(found.groupAssignments);
  const document = found.documents.find((one) => one.id === documentId);
  const topic = topics.find((one) => one.assignmentId === topicId) ?? topics.find((one) => one.assignmentId === document?.assignmentId) ?? topics[0];
  const { data: inClass } = useQuery({ ...classOf(own.data?.classId ?? ""), enabled: own.data !== undefined && own.data !== null });
  const isArchived = inClass?.status === "ARCHIVED";
  // What was new when the room was opened; reading it makes the number of the room itself smaller.
  const [unread] = useState(found.unreadCount);
  useTitleCount(found.unreadCount);
  useTalk(found.id, person.id);
  useParts();
  if (documentId !== undefined && document === undefined) {
    return (
      <div className="flex flex-col items-start gap-3">
        <Heading title={t("missing.title")}>{t("missing.title")}</Heading>
        <p>{t("problem.NOT_FOUND")}</p>
        <Link to="/g/$groupId" params={{ groupId }} className="inline-flex min-h-11 items-center">
          {t("room.toRoom")}
        </Link>
      </div>
    );
  }
  return (
    <div data-wide className="flex flex-col gap-3 xl:h-[calc(100dvh-5.75rem)] xl:min-h-[34rem]">
      <Head found={found} group={own.data} topic={topic} document={document} isStaff={isStaff(person)} isArchived={isArchived} />
      <Bars found={found} group={own.data} topic={topic} isStaff={isStaff(person)} isArchived={isArchived} />
      <Columns
        found={found}
        group={own.data}
        topics={topics}
        topic={topic}
        document={document}
        place={place}
        person={person}
        unread={unread}
        isArchived={isArchived}
        isWriting={isWriting}
      />
      <Warm document={found.documents[0]} isOpen={document !== undefined} />
    </div>
  );
}

/** How many messages wait, in the title of the page, for whoever looks at another one. The heading writes the title anew whenever it changes. */
function useTitleCount(count: number): void {
  useEffect(() => {
    const plain = document.title.replace(/^\(\d+\) /, "");
    document.title = count > 0 ? `(${count}) ${plain}` : plain;
  });
}

/** Puts what is said meanwhile into the room. */
function useTalk(workRoomId: string, own: string): void {
  const cache = useQueryClient();
  useEffect(() => hearFirst((event, said) => overhear(cache, workRoomId, own, event, said)), [cache, workRoomId, own]);
}
