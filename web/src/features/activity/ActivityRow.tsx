import { ChevronRight } from "lucide-react";
import { useTranslation } from "react-i18next";

import { translateIfKnown } from "../../i18n";
import { useTime } from "../../i18n/time";
import { describeEntry, type ActivityEntry } from "./activity";
import { ActivityDetails } from "./ActivityDetails";

/** Returns a function that renders a log entry as a sentence without its actor: the text of its event, refined by the category. */
function useActivitySentence(): (row: ActivityEntry, what: string) => string {
  const { t } = useTranslation();
  return (row, what) => {
    const known =
      translateIfKnown(`activity.says.${row.event}_${row.entityType}`, { what }) ??
      translateIfKnown(`activity.says.${row.event}`, { what });
    return known ?? t("activity.says.OTHER", { what: what || row.event });
  };
}

/** One log entry: time, actor, event and location; details on demand. */
export function ActivityRow({ row, of }: { row: ActivityEntry; of: ReadonlyMap<string, string> }) {
  const { t } = useTranslation();
  const { clock, full } = useTime();
  const sentence = useActivitySentence();
  const { what, where } = describeEntry(row, of);
  const role = translateIfKnown(`activity.role.${row.userRole.toLowerCase()}`);
  return (
    <li>
      <details className="group">
        <summary className="hover:bg-faint flex min-h-11 cursor-pointer list-none items-baseline gap-3 rounded-lg px-2 py-2 [&::-webkit-details-marker]:hidden">
          <time dateTime={row.createdAt} className="text-soft shrink-0 tabular-nums">
            {clock(row.createdAt)}
          </time>
          <span className="min-w-0 grow wrap-anywhere">
            <span className="font-semibold">{row.userName || t("activity.somebody")}</span> {sentence(row, what)}
            {where.length === 0 ? null : <span className="text-soft"> ({where.join(", ")})</span>}
          </span>
          <ChevronRight aria-hidden="true" className="text-soft size-4 shrink-0 self-center group-open:rotate-90" />
        </summary>
        <dl className="border-faint ms-4 mb-3 gap-x-4 border-s-2 ps-4 text-sm sm:ms-16 sm:grid sm:grid-cols-[auto_1fr]">
          <dt className="text-soft">{t("activity.when")}</dt>
          <dd className="mb-1 sm:mb-0">{full(row.createdAt)}</dd>
          {role === undefined ? null : (
            <>
              <dt className="text-soft">{t("activity.as")}</dt>
              <dd className="mb-1 sm:mb-0">{role}</dd>
            </>
          )}
          <ActivityDetails details={row.details} of={of} />
        </dl>
      </details>
    </li>
  );
}
