import { useTranslation } from "react-i18next";

import type { Schemas } from "../../api/client";
import { useNow } from "../../hooks/serverClock";
import { useSchoolZone } from "../../i18n/time";
import { lessonTimes } from "./lessonTimes";

interface Props {
  schedule: readonly Schemas["ScheduleEntry"][] | null;
}

const useLessonTimes = ({ schedule }: Props) => lessonTimes(schedule ?? [], useSchoolZone(), useNow(60_000));

/** Times and room of the current lesson of a class. */
export function CurrentLesson(props: Props) {
  const { t } = useTranslation();
  const { current } = useLessonTimes(props);
  if (current === undefined) return null;
  const { start, end, room } = current;
  return <span>{[t("today.lesson", { start, end }), room].filter(Boolean).join(", ")}</span>;
}

/** Day, time and room of the next lesson of a class. */
export function NextLesson(props: Props) {
  const { t, i18n } = useTranslation();
  const { next } = useLessonTimes(props);
  if (next === undefined) return null;
  const { start, room, weekday } = next.entry;
  // 2024-01-01 was a Monday.
  const day = new Date(`2024-01-0${weekday}`).toLocaleDateString(i18n.language, { weekday: "short", timeZone: "UTC" });
  const when = next.days === 0 ? t("app.today", { time: start }) : `${day}, ${start}`;
  return <span>{[t("today.nextLesson", { when }), room].filter(Boolean).join(", ")}</span>;
}
