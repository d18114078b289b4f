import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { MessageSquare } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Clock } from "../../components/base/icons";
import { usePreference } from "../../hooks/usePreference";
import { useTime } from "../../i18n/time";
import { useIsIdle } from "../../hooks/prefetchWhenIdle";
import { Button } from "../../components/Button";
import { PageHeading } from "../../components/PageHeading";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { TimeLeft } from "../../components/base/TimeLeft";
import { type Board, type Filter, FILTERS, isDone, matchesFilter } from "./board";
import type { BoardDialog } from "./BoardDialogs";
import { FinishTopicButton } from "./FinishTopic";
import { classNamesQuery, courseNamesQuery } from "../lesson/classAndCourse";
import { PublicationChip } from "../lesson/PublicationChip";

/** Header above the cards: topic, remaining time, number of submissions. */
export function BoardHeader({ board, at }: { board: Board; at: number }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const { title, deadline, status, classId, courseId } = board.assignment;
  const className = useQuery(classNamesQuery(classId)).data?.name;
  const courseName = useQuery({ ...courseNamesQuery, enabled: useIsIdle() && courseId !== null }).data?.get(
    courseId ?? "",
  );
  return (
    <div className="flex flex-wrap items-end gap-x-6 gap-y-1">
      <div className="flex min-w-0 grow flex-col">
        <p className="text-soft min-h-6 text-sm">
          {className}
          {courseId !== null && courseName !== undefined ? (
            <>
              {" › "}
              <Link to="/courses/$courseId" params={{ courseId }}>
                {courseName}
              </Link>
            </>
          ) : null}
        </p>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <PageHeading title={title}>{title}</PageHeading>
          <PublicationChip topic={board.assignment} />
        </div>
      </div>
      <p className="flex flex-wrap items-baseline gap-x-4">
        {status === "FINISHED" ? null : (
          <strong className="text-xl">
            <TimeLeft until={deadline} />
          </strong>
        )}
        <span>{t(Date.parse(deadline) < at ? "today.ended" : "today.ends", { when: moment(deadline) })}</span>
        {board.groups.length === 0 ? null : (
          <span>{t("today.submitted", { done: board.groups.filter(isDone).length, count: board.groups.length })}</span>
        )}
      </p>
    </div>
  );
}

/** Filter of the cards, stored in the URL. */
export function BoardFilters({
  board,
  at,
  show,
  onShow,
}: {
  board: Board;
  at: number;
  show: Filter;
  onShow: (filter: Filter) => void;
}) {
  const { t } = useTranslation();
  return (
    <fieldset
      aria-label={t("board.show")}
      className="bg-sunk flex max-w-full min-w-0 gap-0.5 overflow-x-auto rounded-lg p-0.5"
    >
      {FILTERS.map((filter) => (
        <Button
          key={filter}
          kind="quiet"
          aria-pressed={show === filter}
          className={`min-h-9! shrink-0 gap-1.5! rounded-md! px-3 font-normal! ${show === filter ? "bg-sheet! text-ink! shadow-xs forced-colors:border-[Highlight]" : ""}`}
          onPress={() => onShow(filter)}
        >
          {t(`board.filter.${filter}`)}{" "}
          <span className="tabular-nums">{board.groups.filter((card) => matchesFilter(card, filter, at)).length}</span>
        </Button>
      ))}
    </fieldset>
  );
}

/** Actions on the whole topic. */
export function BoardActions({ board, onDo }: { board: Board; onDo: (dialog: BoardDialog) => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [isSoundOn, setSoundOn] = usePreference("chime");
  const { id, title, status } = board.assignment;
  const isEmpty = board.groups.length === 0;
  const params = { topicId: id };
  return (
    <div className="flex flex-wrap gap-1.5">
      {isEmpty ? null : (
        <Button className="px-3" onPress={() => onDo({ what: "message" })}>
          <MessageSquare aria-hidden="true" className="size-4" />
          {t("board.messageAll")}
        </Button>
      )}
      {isEmpty || status === "FINISHED" ? null : (
        <>
          <Button className="px-3" onPress={() => onDo({ what: "time" })}>
            <Clock aria-hidden="true" className="size-4" />
            {t("board.more")}
          </Button>
          <FinishTopicButton board={board} />
        </>
      )}
      <OverflowMenu
        label={title}
        actions={[
          { id: "edit", name: t("board.edit"), onAction: () => void navigate({ to: "/topics/$topicId", params }) },
          {
            id: "projector",
            name: t("board.projector"),
            onAction: () => void navigate({ to: "/topics/$topicId/projector", params }),
          },
          {
            id: "submissions",
            name: t("board.submissions"),
            onAction: () => void navigate({ to: "/submissions", search: { assignmentId: id, status: "ALL" } }),
          },
          {
            id: "zip",
            name: t("board.zip"),
            isDisabled: board.groups.every((card) => card.documents.length === 0),
            onAction: () => download(`/api/assignments/${id}/export.zip`),
          },
          { id: "copy", name: t("board.copy"), onAction: () => onDo({ what: "copy" }) },
          {
            id: "chime",
            name: isSoundOn ? t("board.chimeOff") : t("board.chimeOn"),
            onAction: () => setSoundOn(!isSoundOn),
          },
        ]}
      />
    </div>
  );
}

/** Starts a browser download, which shows its progress and keeps the page open. */
function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}
