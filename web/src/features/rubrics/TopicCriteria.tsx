import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { Disclosure } from "../../components/Disclosure";
import { CriteriaList } from "./CriteriaList";
import { topicRubricQuery } from "./rubrics";

/** The criteria by which the work on a topic is assessed, if the reader may see them. */
export function TopicCriteria({ topicId }: { topicId: string }) {
  const { t } = useTranslation();
  const found = useQuery(topicRubricQuery(topicId));
  if (!found.data) return null;
  return (
    <Disclosure name={t("rubrics.criteria")} count={found.data.criteria.length}>
      <CriteriaList criteria={found.data.criteria} />
    </Disclosure>
  );
}
