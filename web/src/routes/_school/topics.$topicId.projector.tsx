import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { Maximize } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { Hand } from "../../components/base/icons";
import { boardQuery, type Board } from "../../features/board/board";
import { classNamesQuery } from "../../features/lesson/classAndCourse";
import { remainingTime, useNow } from "../../hooks/serverClock";
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

/** Projector view for the whole class: topic and remaining time, no data of any group. */
function Projector() {
  const { t } = useTranslation();
  const { topicId } = Route.useParams();
  const found = useQuery(boardQuery(topicId));
  const navigate = Route.useNavigate();
  const back = () => void navigate({ to: "/topics/$topicId/board" });
  useShortcuts({ b: back });
  useEscape(back);
  return (
    <div data-fullscreen className="flex min-h-[calc(100dvh-2rem)] flex-col gap-6">
      <div className="flex flex-wrap justify-end gap-2">
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
      {found.data ? <Stage topic={found.data.assignment} /> : null}
    </div>
  );
}

function Stage({ topic }: { topic: Board["assignment"] }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const at = useNow(10_000);
  const className = useQuery(classNamesQuery(topic.classId)).data?.name;
  return (
    <div className="flex grow flex-col items-center justify-center gap-[3vh] text-center break-words">
      <p className="text-soft text-[clamp(1.1rem,2.5vw,2.2rem)]">{className}</p>
      <div className="max-w-full [&_h1]:text-[clamp(1.6rem,5vw,4.5rem)] [&_h1]:leading-tight">
        <PageHeading title={topic.title}>{topic.title}</PageHeading>
      </div>
      <p role="timer" className="text-[clamp(3rem,16vw,16rem)] leading-none font-semibold tabular-nums">
        {topic.status === "FINISHED" ? t("projector.over") : <Countdown until={Date.parse(topic.deadline)} />}
      </p>
      <p className="text-soft text-[clamp(1.1rem,2.5vw,2.2rem)]">
        {t(Date.parse(topic.deadline) < at ? "today.ended" : "today.ends", { when: moment(topic.deadline) })}
      </p>
      <p className="flex flex-wrap items-center justify-center gap-3 text-[clamp(1.1rem,2.5vw,2.2rem)]">
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
