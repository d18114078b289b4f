import { useTranslation } from "react-i18next";

import { remainingTime, useNow } from "../../hooks/serverClock";

/** Remaining time as text; hidden from screen readers, because the deadline itself is shown next to it. */
export function TimeLeft({ until }: { until: string }) {
  const { t } = useTranslation();
  const rest = remainingTime(Date.parse(until), useNow());
  const text =
    rest.unit === "seconds" ? t("left.seconds", { text: rest.text }) : t(`left.${rest.unit}`, { count: rest.count });
  return (
    <span role="timer" className="tabular-nums">
      {text}
    </span>
  );
}
