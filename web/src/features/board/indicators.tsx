import { useTranslation } from "react-i18next";

import { formatMinutes, useNow } from "../../hooks/serverClock";

/** A filled dot means online, a hollow one offline. Drawn as SVG because forced colours remove background fills. */
export function PresenceDot({ online }: { online: boolean }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 10 10"
      className={`inline size-2.5 shrink-0 ${online ? "text-good" : "text-line"}`}
    >
      <circle cx="5" cy="5" r="4" fill={online ? "currentColor" : "none"} stroke="currentColor" strokeWidth="1.5" />
    </svg>
  );
}

/** Activity of the last twenty minutes, scaled per group, because groups must not be compared. */
export function ActivityChart({ counts }: { counts: readonly number[] }) {
  const { t } = useTranslation();
  const most = Math.max(1, ...counts);
  const active = counts.filter((count) => count > 0).length;
  return (
    <>
      <span className="sr-only">{t("board.activity", { count: active })} </span>
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${counts.length * 5 - 1} 16`}
        className="h-4 w-full"
        preserveAspectRatio="none"
      >
        {counts.map((count, minute) => (
          <rect
            key={minute}
            x={minute * 5}
            y={count === 0 ? 14 : 13 - (13 * count) / most}
            width="4"
            height={count === 0 ? 2 : 3 + (13 * count) / most}
            className={count === 0 ? "text-faint" : "text-accent"}
            fill="currentColor"
          />
        ))}
      </svg>
    </>
  );
}

/** Waiting time in minutes and seconds. */
export function WaitingTime({ moment }: { moment: string }) {
  const at = useNow();
  return <span className="tabular-nums">{formatMinutes(at - Date.parse(moment))}</span>;
}
