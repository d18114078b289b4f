import { useTranslation } from "react-i18next";

import { useTime } from "../../i18n/time";

/** Until when a deletion can be undone, in the question before it. */
export function RestorableNote({ until }: { until: string | undefined }) {
  const { t } = useTranslation();
  const { day } = useTime();
  return <p>{until === undefined ? t("deletions.final") : t("deletions.until", { date: day(until) })}</p>;
}
