import { useTranslation } from "react-i18next";

import { StateChip } from "../../components/base/StateChip";
import { useNow } from "../../hooks/serverClock";
import { useTime } from "../../i18n/time";
import { type PublicationFields, publicationState } from "./publication";

/** The state of a topic that students do not see yet; nothing for a published one. */
export function PublicationChip({ topic }: { topic: PublicationFields }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const state = publicationState(topic, useNow(30_000));
  if (state === "draft") return <StateChip state="draft">{t("state.DRAFT_TOPIC")}</StateChip>;
  if (state === "published" || !topic.publishAt) return null;
  return <StateChip state="later">{t("state.SCHEDULED", { when: moment(topic.publishAt) })}</StateChip>;
}
