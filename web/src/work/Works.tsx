import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { useTranslation } from "react-i18next";

import { isAdmin, type Me } from "../lib/session";
import { useTime } from "../lib/time";
import { workRoomQuery, type Topic, type WorkRoom } from "../features/work-room/workRoom";
import { Bar } from "../ui/Bar";
import { Chip } from "../ui/Chip";
import { Heading } from "../ui/Heading";
import { Problems } from "../ui/Problems";
import { Shape } from "../ui/Shape";
import { Sheet } from "../ui/Sheet";
import { When } from "../ui/When";
import { Comments } from "./Comments";
import { Contributions } from "./Contributions";
import { GradePanel } from "./GradePanel";
import { History, Lateness } from "./History";
import { SubmitFor, TakeBackFor } from "./OnBehalf";
import { Papers } from "./Papers";
import { Step } from "./Steps";
import { useTakenBack } from "./useTakenBack";
import { type Assignment, isToGrade, nameOf, papers } from "./work";

export interface Row {
  all: Topic[];
  place: number;
  before: Topic | undefined;
  here: Topic;
  after: Topic | undefined;
}

interface Props {
  found: Assignment;
  row: Row;
  person: Me;
  open: string | undefined;
  onOpen: (id: string) => void;
}

const TONES = { NOT_STARTED: "plain", IN_PROGRESS: "plain", SUBMITTED: "good", RETURNED: "warn", GRADED: "good" } as const;

/** One work: whose it is and how it stands, its documents, and what the teacher says about it. */
export function Works({ found, row, person, open, onOpen }: Props) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const { here } = row;
  const place = useQuery(workRoomQuery(here.groupId));
  const isFinished = found.status === "FINISHED";
  const nameOfPerson = names(place.data, person);
  return (
    <div data-wide className="mx-auto flex max-w-[110rem] flex-col gap-4">
      <Head found={found} row={row} nameOf={nameOfPerson} />
      {isFinished ? <Bar>{t("work.finished", { when: found.finishedAt === null ? "" : moment(found.finishedAt) })}</Bar> : null}
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <section id="work-document" tabIndex={-1} aria-label={t("room.place.documents")} className="min-w-0 outline-none focus-visible:outline-3">
          <Sheet>
            {place.isPending ? <Shape count={1} /> : null}
            {place.isError && !place.data ? <Problems problem={place.error} again={() => void place.refetch()} /> : null}
            {place.data ? <Papers papers={papers(place.data, here)} open={open} onOpen={onOpen} /> : null}
          </Sheet>
        </section>
        <section id="work-panel" tabIndex={-1} aria-label={t("work.about")} className="min-w-0 rounded-xl outline-none focus-visible:outline-3 lg:sticky lg:top-16 lg:max-h-[calc(100vh-5rem)] lg:overflow-y-auto">
          <Panel key={here.id} found={found} here={here} after={row.after} place={place.data} person={person} nameOf={nameOfPerson} isFinished={isFinished} />
        </section>
      </div>
    </div>
  );
}

/** Names of everybody who could have done something in this room. */
function names(place: WorkRoom | undefined, person: Me): (id: string) => string | undefined {
  const known = new Map<string, string>([[person.id, person.name]]);
  if (place?.teacher) known.set(place.teacher.id, place.teacher.name);
  for (const member of place?.members ?? []) known.set(member.userId, member.user.name);
  return (id) => known.get(id);
}

function Head({ found, row, nameOf: nameOfPerson }: { found: Assignment; row: Row; nameOf: (id: string) => string | undefined }) {
  const { t } = useTranslation();
  const { here } = row;
  const attempt = here.currentSubmission;
  const name = nameOf(here.group);
  const handedIn = row.all.filter((one) => one.currentSubmissionId !== null);
  return (
    <section id="work-head" tabIndex={-1} aria-label={t("work.head")} className="flex flex-col gap-2 outline-none focus-visible:outline-3">
      <p className="flex flex-wrap items-center gap-x-4">
        <Link to="/t/$topicId/board" params={{ topicId: found.id }} className="inline-flex min-h-11 items-center gap-1" aria-keyshortcuts="Escape">
          <ChevronLeft aria-hidden="true" className="size-5" />
          {found.title}
        </Link>
        <span className="text-soft tabular-nums sm:ms-auto">{t("work.progress", { done: handedIn.filter((one) => !isToGrade(one)).length, count: handedIn.length })}</span>
      </p>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Step to={row.before} way="before" />
        <Heading title={`${name} · ${found.title}`}>{name}</Heading>
        <Step to={row.after} way="next" />
        {found.status === "FINISHED" && attempt === null ? <Chip tone="warn">{t("work.notHandedIn")}</Chip> : <Chip tone={TONES[here.status]}>{t(`work.state.${here.status}`)}</Chip>}
        {attempt === null ? null : (
          <span>
            <When at={attempt.submittedAt} /> {attempt.onBehalf ? t("work.byTeacher") : t("work.by", { name: nameOfPerson(attempt.submittedById) ?? t("work.someone") })} · <Lateness attempt={attempt} />
          </span>
        )}
        <Link to="/g/$groupId" params={{ groupId: here.groupId }} className="inline-flex min-h-11 items-center sm:ms-auto">
          {t("work.room")}
        </Link>
      </div>
    </section>
  );
}

interface PanelProps {
  found: Assignment;
  here: Topic;
  after: Topic | undefined;
  place: WorkRoom | undefined;
  person: Me;
  nameOf: (id: string) => string | undefined;
  isFinished: boolean;
}

function Panel({ found, here, after, place, person, nameOf: nameOfPerson, isFinished }: PanelProps) {
  const { t } = useTranslation();
  const attempt = here.currentSubmission;
  const takenBack = useTakenBack(here);
  const sheets = place === undefined ? [] : papers(place, here);
  const live = sheets.map((paper) => paper.document).filter((document) => document !== undefined);
  const groupName = nameOf(here.group);
  const next = (
    <Step to={after} way="next" className="border-line bg-sheet text-ink inline-flex min-h-11 items-center justify-center gap-1 rounded-lg border px-4 font-medium">
      {t("work.nextShort")}
    </Step>
  );
  return (
    <Sheet className="flex flex-col gap-3">
      <output className={takenBack === undefined ? "sr-only" : "border-warn rounded-lg border p-3"}>{takenBack === undefined ? "" : t(`work.gone.${takenBack}`)}</output>
      {attempt === null ? (
        <>
          <h2>{t("work.panel")}</h2>
          <p>{isFinished ? t("work.neverHandedIn") : here.status === "RETURNED" ? t("work.again") : t("work.working")}</p>
          <div className="flex flex-wrap gap-2">
            {isFinished ? null : <SubmitFor groupName={groupName} assignmentId={found.id} documents={live.filter((one) => one.status === "DRAFT")} />}
            {next}
          </div>
        </>
      ) : (
        <GradePanel
          key={attempt.id}
          submission={attempt}
          person={person.id}
          groupAssignmentId={here.id}
          groupName={groupName}
          gradeScale={found.gradeScale}
          maxPoints={found.maxPoints}
          isFinished={isFinished}
          nameOf={nameOfPerson}
          next={next}
        >
          {here.status === "SUBMITTED" && !isFinished ? <TakeBackFor groupName={groupName} documents={live.filter((one) => one.status === "SUBMITTED" && attempt.documents.some((copy) => copy.documentId === one.id))} /> : null}
        </GradePanel>
      )}
      <div>
        <Comments groupAssignmentId={here.id} papers={sheets} person={{ id: person.id, isAdmin: isAdmin(person) }} />
        <History groupAssignmentId={here.id} maxPoints={found.maxPoints} nameOf={nameOfPerson} />
        <Contributions groupId={here.groupId} />
      </div>
    </Sheet>
  );
}
