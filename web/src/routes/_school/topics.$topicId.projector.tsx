import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { Maximize, Printer, Users } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { Hand } from "../../components/base/icons";
import { boardQuery, type Board } from "../../features/board/board";
import { listShownGroups, PrintedGroups, ProjectorGroups } from "../../features/board/ProjectorGroups";
import { classNamesQuery } from "../../features/lesson/classAndCourse";
import { remainingTime, useNow } from "../../hooks/serverClock";
import { usePreference } from "../../hooks/usePreference";
import { useShortcuts } from "../../hooks/useShortcuts";
import { isStaff, requireRole } from "../../auth/session";
import { useTime } from "../../i18n/time";
import { buttonClass, Button } from "../../components/Button";
import { PageHeading } from "../../components/PageHeading";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";

export const Route = createFileRoute("/_school/topics/$topicId/projector")({
  beforeLoad: requireRole(isStaff),
  component: Projector,
});

/** Projector view for the whole class: topic, remaining time, and who is in which group. Nothing about the work of a group. */
function Projector() {
  const { t } = useTranslation();
  const { topicId } = Route.useParams();
  const found = useQuery(boardQuery(topicId));
  const navigate = Route.useNavigate();
  const [areGroupsShown, showGroups] = usePreference("projectorGroups");
  const groups = listShownGroups(found.data?.groups ?? []);
  const back = () => void navigate({ to: "/topics/$topicId/board" });
  useShortcuts({ b: back });
  useEscape(back);
  return (
    <div data-fullscreen className="flex min-h-[calc(100dvh-2rem)] flex-col gap-6">
      <div className="flex flex-wrap justify-end gap-2">
        {groups.length === 0 ? null : (
          <>
            <Button aria-pressed={areGroupsShown} onPress={() => showGroups(!areGroupsShown)}>
              <Users aria-hidden="true" className="size-4" />
              {t(areGroupsShown ? "projector.hideGroups" : "projector.showGroups")}
            </Button>
            <Button onPress={() => window.print()}>
              <Printer aria-hidden="true" className="size-4" />
              {t("projector.print")}
            </Button>
          </>
        )}
        {document.fullscreenEnabled ? (
          <Button
            onPress={() =>
              void (
                document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()
              ).catch(() => undefined)
            }
          >
            <Maximize aria-hidden="true" className="size-4" />
            {t("projector.full")}
          </Button>
        ) : null}
        <Link to="/topics/$topicId/board" params={{ topicId }} className={buttonClass()}>
          {t("projector.back")}
        </Link>
      </div>
      {found.isPending ? <Skeleton count={1} /> : null}
      {found.isError && !found.data ? (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data ? (
        <>
          <Stage topic={found.data.assignment} groups={areGroupsShown ? groups : []} />
          <PrintedGroups title={found.data.assignment.title} groups={groups} />
        </>
      ) : null}
    </div>
  );
}

function Stage({ topic, groups }: { topic: Board["assignment"]; groups: ReturnType<typeof listShownGroups> }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const at = useNow(10_000);
  const className = useQuery(classNamesQuery(topic.classId)).data?.name;
  const hasGroups = groups.length > 0;
  const small = hasGroups ? "text-[clamp(1rem,1.6vw,1.8rem)]" : "text-[clamp(1.1rem,2.5vw,2.2rem)]";
  return (
    <div
      className={`flex grow flex-col items-center text-center break-words ${hasGroups ? "gap-[1.5vh]" : "justify-center gap-[3vh]"}`}
    >
      <p className={`text-soft ${small}`}>{className}</p>
      <div
        className={`max-w-full [&_h1]:leading-tight ${hasGroups ? "[&_h1]:text-[clamp(1.4rem,3vw,3rem)]" : "[&_h1]:text-[clamp(1.6rem,5vw,4.5rem)]"}`}
      >
        <PageHeading title={topic.title}>{topic.title}</PageHeading>
      </div>
      <p
        role="timer"
        className={`leading-none font-semibold tabular-nums ${hasGroups ? "text-[clamp(2.5rem,8vw,8rem)]" : "text-[clamp(3rem,16vw,16rem)]"}`}
      >
        {topic.status === "FINISHED" ? t("projector.over") : <Countdown until={Date.parse(topic.deadline)} />}
      </p>
      <p className={`text-soft ${small}`}>
        {t(Date.parse(topic.deadline) < at ? "today.ended" : "today.ends", { when: moment(topic.deadline) })}
      </p>
      {hasGroups ? <ProjectorGroups label={t("projector.groups")} groups={groups} /> : null}
      <p className={`flex flex-wrap items-center justify-center gap-3 ${small}`}>
        <Hand aria-hidden="true" className="text-warn size-[1.4em] shrink-0" />
        {t("projector.help")}
      </p>
    </div>
  );
}

/** Like on the board, but past the deadline it shows no lateness, because the class can see it. */
function Countdown({ until }: { until: number }) {
  const { t } = useTranslation();
  const rest = remainingTime(until, useNow());
  if (rest.unit === "over") return t("projector.over");
  return rest.unit === "seconds" ? rest.text : t(`projector.${rest.unit}`, { count: rest.count });
}

/** Escape returns to the board; in full screen the browser handles it first. */
function useEscape(back: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) =>
      event.key === "Escape" && !event.defaultPrevented && document.fullscreenElement === null && back();
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
}
