import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { useTranslation } from "react-i18next";

import { isAdmin, type Me } from "../../auth/session";
import { useTime } from "../../i18n/time";
import { workRoomQuery, type GroupTopic, type WorkRoom } from "../work-room/workRoom";
import { LockBanner } from "../../components/base/LockBanner";
import { Badge } from "../../components/base/Badge";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Card } from "../../components/Card";
import { Time } from "../../components/base/Time";
import { Comments } from "./Comments";
import { Contributions } from "./Contributions";
import { GradePanel } from "./GradePanel";
import { SubmissionHistory, LatenessBadge } from "./SubmissionHistory";
import { SubmitForGroup, TakeBackForGroup } from "./OnBehalfDialogs";
import { RecordWork, RemoveRecord } from "./RecordWork";
import { WorkStateBadge } from "../submissions/WorkStateBadge";
import { DocumentViewer } from "./DocumentViewer";
import { GroupStepLink } from "./GroupStepLink";
import { useSubmissionChange } from "./useSubmissionChange";
import { type Assignment, groupDeadline, isUngraded, listViewedDocuments } from "./work";
import { numberedName } from "../lesson/groupNames";

export interface WorkNeighbours {
  all: GroupTopic[];
  place: number;
  before: GroupTopic | undefined;
  here: GroupTopic;
  after: GroupTopic | undefined;
}

interface Props {
  topic: Assignment;
  neighbours: WorkNeighbours;
  person: Me;
  open: string | undefined;
  onOpen: (id: string) => void;
}

/** One work: group and status, documents, and the grading panel. */
export function WorkView({ topic, neighbours, person, open, onOpen }: Props) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const { here: groupWork } = neighbours;
  const roomQuery = useQuery(workRoomQuery(groupWork.groupId));
  const isFinished = topic.status === "FINISHED";
  const nameOfPerson = userName(roomQuery.data, person);
  return (
    <div className="flex flex-col gap-4">
      <WorkHeader topic={topic} neighbours={neighbours} nameOf={nameOfPerson} />
      {isFinished ? (
        <LockBanner>
          {t("work.finished", { when: topic.finishedAt === null ? "" : moment(topic.finishedAt) })}
        </LockBanner>
      ) : null}
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <section
          id="work-document"
          tabIndex={-1}
          aria-label={t("room.place.documents")}
          className="min-w-0 outline-none focus-visible:outline-3"
        >
          <Card>
            {roomQuery.isPending ? <Skeleton count={1} /> : null}
            {roomQuery.isError && !roomQuery.data ? (
              <ErrorMessage problem={roomQuery.error} onRetry={() => void roomQuery.refetch()} />
            ) : null}
            {roomQuery.data ? (
              <DocumentViewer documents={listViewedDocuments(roomQuery.data, groupWork)} open={open} onOpen={onOpen} />
            ) : null}
          </Card>
        </section>
        <section
          id="work-panel"
          tabIndex={-1}
          aria-label={t("work.about")}
          className="min-w-0 rounded-xl outline-none focus-visible:outline-3 lg:sticky lg:top-[calc(var(--header-height)+0.75rem)] lg:max-h-[calc(100dvh-var(--header-height)-1.75rem)] lg:overflow-y-auto"
        >
          <GradingPanel
            key={groupWork.id}
            topic={topic}
            groupWork={groupWork}
            after={neighbours.after}
            workRoom={roomQuery.data}
            person={person}
            nameOf={nameOfPerson}
            isFinished={isFinished}
          />
        </section>
      </div>
    </div>
  );
}

/** Names of all users who may have acted in this room. */
function userName(workRoom: WorkRoom | undefined, person: Me): (id: string) => string | undefined {
  const known = new Map<string, string>([[person.id, person.name]]);
  if (workRoom?.teacher) known.set(workRoom.teacher.id, workRoom.teacher.name);
  for (const member of workRoom?.members ?? []) known.set(member.userId, member.user.name);
  return (id) => known.get(id);
}

function WorkHeader({
  topic,
  neighbours,
  nameOf: nameOfPerson,
}: {
  topic: Assignment;
  neighbours: WorkNeighbours;
  nameOf: (id: string) => string | undefined;
}) {
  const { t } = useTranslation();
  const { here: groupWork } = neighbours;
  const attempt = groupWork.currentSubmission;
  const name = numberedName(groupWork.group);
  const handedIn = neighbours.all.filter((one) => one.currentSubmissionId !== null);
  return (
    <section
      id="work-head"
      tabIndex={-1}
      aria-label={t("work.head")}
      className="flex flex-col gap-2 outline-none focus-visible:outline-3"
    >
      <p className="flex flex-wrap items-center gap-x-4">
        <Link
          to="/topics/$topicId/board"
          params={{ topicId: topic.id }}
          className="inline-flex min-h-11 items-center gap-1"
          aria-keyshortcuts="Escape"
        >
          <ChevronLeft aria-hidden="true" className="size-5" />
          {topic.title}
        </Link>
        <span className="text-soft tabular-nums sm:ms-auto">
          {t("work.progress", { done: handedIn.filter((one) => !isUngraded(one)).length, count: handedIn.length })}
        </span>
      </p>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <GroupStepLink to={neighbours.before} direction="before" />
        <PageHeading title={`${name} · ${topic.title}`}>{name}</PageHeading>
        <GroupStepLink to={neighbours.after} direction="next" />
        {topic.status === "FINISHED" && attempt === null ? (
          <Badge tone="warn">{t("work.notHandedIn")}</Badge>
        ) : (
          <WorkStateBadge status={groupWork.status} />
        )}
        {attempt === null ? null : (
          <span>
            <Time at={attempt.submittedAt} />{" "}
            {attempt.onBehalf
              ? t("work.byTeacher")
              : t("work.by", { name: nameOfPerson(attempt.submittedById) ?? t("work.someone") })}{" "}
            · <LatenessBadge attempt={attempt} />
          </span>
        )}
        <Link
          to="/groups/$groupId"
          params={{ groupId: groupWork.groupId }}
          className="inline-flex min-h-11 items-center sm:ms-auto"
        >
          {t("work.room")}
        </Link>
      </div>
    </section>
  );
}

interface GradingPanelProps {
  topic: Assignment;
  groupWork: GroupTopic;
  after: GroupTopic | undefined;
  workRoom: WorkRoom | undefined;
  person: Me;
  nameOf: (id: string) => string | undefined;
  isFinished: boolean;
}

function GradingPanel({
  topic,
  groupWork,
  after,
  workRoom,
  person,
  nameOf: nameOfPerson,
  isFinished,
}: GradingPanelProps) {
  const { t } = useTranslation();
  const attempt = groupWork.currentSubmission;
  const takenBack = useSubmissionChange(groupWork);
  const viewedDocuments = workRoom === undefined ? [] : listViewedDocuments(workRoom, groupWork);
  const live = viewedDocuments.map((paper) => paper.document).filter((document) => document !== undefined);
  const groupName = numberedName(groupWork.group);
  const next = (
    <GroupStepLink
      to={after}
      direction="next"
      className="bg-sunk text-ink hover:bg-hover inline-flex min-h-control items-center justify-center gap-1 rounded-lg border border-transparent px-3.5 font-medium"
    >
      {t("work.nextShort")}
    </GroupStepLink>
  );
  return (
    <Card className="flex flex-col gap-3">
      <output className={takenBack === undefined ? "sr-only" : "border-warn rounded-lg border p-3"}>
        {takenBack === undefined ? "" : t(`work.gone.${takenBack}`)}
      </output>
      {attempt === null ? (
        <>
          <h2>{t("work.panel")}</h2>
          <p>
            {isFinished
              ? t("work.neverHandedIn")
              : groupWork.status === "RETURNED"
                ? t("work.again")
                : t("work.working")}
          </p>
          <div className="flex flex-wrap gap-2">
            {isFinished ? null : (
              <SubmitForGroup
                groupName={groupName}
                assignmentId={topic.id}
                documents={live.filter((one) => one.status === "DRAFT")}
              />
            )}
            <RecordWork work={groupWork} groupName={groupName} />
            {next}
          </div>
        </>
      ) : (
        <GradePanel
          key={attempt.id}
          submission={attempt}
          person={person.id}
          topicId={topic.id}
          groupAssignmentId={groupWork.id}
          groupName={groupName}
          gradeScale={topic.gradeScale}
          maxPoints={topic.maxPoints}
          isFinished={isFinished}
          deadline={groupDeadline(topic, groupWork)}
          nameOf={nameOfPerson}
          next={next}
        >
          {groupWork.status === "SUBMITTED" && !isFinished ? (
            <TakeBackForGroup
              groupName={groupName}
              documents={live.filter(
                (one) => one.status === "SUBMITTED" && attempt.documents.some((copy) => copy.documentId === one.id),
              )}
            />
          ) : null}
          {groupWork.status === "SUBMITTED" && attempt.documents.length === 0 ? (
            <RemoveRecord work={groupWork} groupName={groupName} />
          ) : null}
        </GradePanel>
      )}
      <div>
        <Comments
          groupAssignmentId={groupWork.id}
          viewedDocuments={viewedDocuments}
          person={{ id: person.id, isAdmin: isAdmin(person) }}
        />
        <SubmissionHistory groupAssignmentId={groupWork.id} maxPoints={topic.maxPoints} nameOf={nameOfPerson} />
        <Contributions groupId={groupWork.groupId} />
      </div>
    </Card>
  );
}
