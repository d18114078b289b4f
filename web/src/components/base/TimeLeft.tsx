import { useTranslation } from "react-i18next";

import { remainingTime, useNow } from "../../hooks/serverClock";
import { useLateText } from "../../i18n/useLateText";

/** The bar shows the last hour. */
const HOUR_MS = 3_600_000;
const SOON_MS = 300_000;

/**
 * Remaining time as text, optionally with a bar for the last hour; hidden from screen readers, because the deadline itself is
 * shown next to it.
 */
export function TimeLeft({ until, hasBar = false }: { until: string; hasBar?: boolean }) {
  const { t } = useTranslation();
  const now = useNow();
  const left = Date.parse(until) - now;
  const rest = remainingTime(Date.parse(until), now);
  const lateText = useLateText();
  const text =
    rest.unit === "over"
      ? lateText(rest.seconds)
      : rest.unit === "seconds"
        ? t("left.seconds", { text: rest.text })
        : t(`left.${rest.unit}`, { count: rest.count });
  if (!hasBar)
    return (
      <span role="timer" className="tabular-nums">
        {text}
      </span>
    );
  const isSoon = left < SOON_MS;
  return (
    <span
      role="timer"
      className={`inline-flex flex-col items-center gap-1 tabular-nums ${isSoon ? "text-late font-medium" : ""}`}
    >
      {text}
      {left > 0 && left < HOUR_MS ? (
        <span aria-hidden="true" className="bg-faint h-1 w-14 overflow-hidden rounded-full sm:w-24">
          <span
            className={`block h-full rounded-full ${isSoon ? "bg-late" : "bg-soft"}`}
            style={{ width: `${(100 * left) / HOUR_MS}%` }}
          />
        </span>
      ) : null}
    </span>
  );
}
