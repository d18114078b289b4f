import { Link } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { GroupTopic } from "../work-room/workRoom";
import { numberedName } from "../lesson/groupNames";

const SQUARE =
  "bg-sunk text-ink hover:bg-hover inline-flex min-h-control min-w-control items-center justify-center gap-1 rounded-lg border border-transparent px-2";

/** Link to the previous or next group; disabled at the ends, so that the layout does not jump. */
export function GroupStepLink({
  to,
  direction,
  children,
  className = SQUARE,
}: {
  to: GroupTopic | undefined;
  direction: "before" | "next";
  children?: ReactNode;
  className?: string;
}) {
  const { t } = useTranslation();
  const ArrowIcon = direction === "before" ? ChevronLeft : ChevronRight;
  const arrow = <ArrowIcon aria-hidden="true" className="size-5" />;
  const label = direction === "before" ? t("work.before") : t("work.next");
  if (to === undefined) {
    return (
      <span aria-hidden="true" className={`${className} opacity-40`}>
        {children}
        {arrow}
      </span>
    );
  }
  return (
    <Link
      to="/topics/$topicId/work/$groupId"
      params={{ topicId: to.assignmentId, groupId: to.groupId }}
      replace
      aria-label={`${label}: ${numberedName(to.group)}`}
      title={`${label}: ${numberedName(to.group)} (${direction === "before" ? "p" : "n"})`}
      aria-keyshortcuts={direction === "before" ? "p" : "n"}
      className={className}
    >
      {children}
      {arrow}
    </Link>
  );
}
