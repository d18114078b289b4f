import { Link } from "@tanstack/react-router";
import { ChevronLeft, CloudCheck, CloudOff, Eye, RefreshCw } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Avatar } from "../../components/base/Avatar";
import { StateChip } from "../../components/base/StateChip";
import { TimeLeft } from "../../components/base/TimeLeft";
import { PageHeading } from "../../components/PageHeading";
import { buttonClass } from "../../components/Button";
import { useConnection } from "../../hooks/connection";
import { numberedName } from "../lesson/groupNames";
import { DocumentMenu } from "./DocumentMenu";
import { listGroupMembers } from "./GroupMembers";
import { HelpButton } from "./HelpRequest";
import { type SaveState, useSaveState, useUnsentCount } from "./saveState";
import { SubmissionStatus } from "./SubmissionStatus";
import { type Document, fileName, type Group, type GroupTopic, type WorkRoom } from "./workRoom";

/** The bar above an open document: the way back, its name and state, who is in the group, the time, the main actions. */
export function RoomBar({
  workRoom,
  topic,
  document,
  children,
}: {
  workRoom: WorkRoom;
  topic: GroupTopic | undefined;
  document: Document;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <section
      aria-label={t("room.title")}
      data-part
      tabIndex={-1}
      className="bg-sheet border-faint flex min-h-12 shrink-0 items-center gap-x-4 border-b px-2 outline-none sm:min-h-14 sm:px-3"
    >
      <Link
        to="/groups/$groupId"
        params={{ groupId: workRoom.groupId }}
        search={{ place: "documents", ...(topic ? { topic: topic.assignmentId } : {}) }}
        aria-label={t("room.toRoom")}
        title={t("room.toRoom")}
        className={`${buttonClass("quiet")} -me-3 px-0!`}
      >
        <ChevronLeft aria-hidden="true" className="size-5" />
      </Link>
      <div className="min-w-0 grow sm:grow-0">
        <div className="flex min-w-0 items-center gap-1.5">
          <span className="min-w-0 truncate [&_h1]:truncate [&_h1]:text-lg [&_h1]:leading-6">
            <PageHeading title={fileName(document)}>
              {document.title}
              <span className="text-soft font-normal">.{document.fileExtension}</span>
            </PageHeading>
          </span>
          <span className="-my-1">
            <DocumentMenu document={document} workRoom={workRoom} isOpen />
          </span>
          <DocumentState document={document} />
        </div>
        <p className="text-soft text-note hidden truncate sm:block">
          {topic ? `${topic.assignment.title} · ` : ""}
          {numberedName(workRoom.group)}
        </p>
      </div>
      <span className="ms-auto" />
      <Members workRoom={workRoom} />
      {topic && topic.assignment.status === "ACTIVE" && topic.status !== "SUBMITTED" && topic.status !== "GRADED" ? (
        <span className="text-sm whitespace-nowrap">
          <TimeLeft until={topic.lateAllowedUntil ?? topic.assignment.deadline} hasBar />
        </span>
      ) : null}
      {children}
    </section>
  );
}

/** The actions of the group: ask for help, submit or take back. */
export function RoomActions({
  workRoom,
  group,
  topic,
  document,
  isStaff,
  isArchived,
}: {
  workRoom: WorkRoom;
  group: Group | null | undefined;
  topic: GroupTopic | undefined;
  document: Document | undefined;
  isStaff: boolean;
  isArchived: boolean;
}) {
  if (isArchived) return null;
  return (
    <>
      {isStaff || !group ? null : <HelpButton group={group} helper={workRoom.helpClaimedBy} />}
      <SubmissionStatus workRoom={workRoom} topic={topic} document={document} />
    </>
  );
}

/** Who is in the group; the names are in the panel of the group. */
function Members({ workRoom }: { workRoom: WorkRoom }) {
  const { t } = useTranslation();
  const members = listGroupMembers(workRoom);
  return (
    <ul aria-label={t("room.members")} className="hidden items-center gap-2.5 md:flex">
      {members.slice(0, 8).map((member) => (
        <li key={member.id} title={member.name} className="relative inline-flex">
          <Avatar name={member.name} color={member.color} size="large" isAway={!member.isHere} />
          {member.isWriting ? (
            <span
              aria-hidden="true"
              className="bg-ink text-page absolute -bottom-1.5 left-1/2 flex h-3 -translate-x-1/2 items-center rounded-full px-1 text-[0.625rem] leading-none"
            >
              •••
            </span>
          ) : null}
          <span className="sr-only">
            {member.name}
            {` ${t(member.isHere ? "room.here" : "room.away")}`}
            {member.isWriting ? ` (${t("room.writing")})` : ""}
          </span>
        </li>
      ))}
    </ul>
  );
}

const SAVE_LOOKS = {
  saved: [CloudCheck, "text-good"],
  saving: [RefreshCw, "text-soft"],
  freezing: [RefreshCw, "text-soft"],
  unsent: [CloudOff, "text-warn"],
  offline: [CloudOff, "text-warn"],
  view: [Eye, "text-soft"],
} as const satisfies Record<SaveState, unknown>;

/** One word about saving, or the state of a document that is final. */
function DocumentState({ document }: { document: Document }) {
  const { t } = useTranslation();
  const reported = useSaveState();
  const count = useUnsentCount();
  const isOffline = useConnection() === "offline";
  if (document.status !== "DRAFT")
    return (
      <StateChip state={document.status === "LOCKED" ? "finished" : "submitted"}>
        {t(`room.state.${document.status}`)}
      </StateChip>
    );
  const saving = isOffline && reported !== undefined ? "offline" : reported;
  if (saving === undefined) return null;
  const [Icon, color] = SAVE_LOOKS[saving];
  const text =
    count > 0 && (saving === "unsent" || saving === "offline")
      ? t(saving === "offline" ? "room.saving.offlineCount" : "room.saving.unsentCount", { count })
      : t(`room.saving.${saving}`);
  return (
    <output className={`text-note flex shrink-0 items-center gap-1 whitespace-nowrap ${color}`}>
      <Icon aria-hidden="true" className="size-4" />
      <span className="sr-only sm:not-sr-only">{text}</span>
    </output>
  );
}
