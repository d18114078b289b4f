import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { Disclosure } from "../../components/Disclosure";
import { topicDetailQuery } from "../work-room/workRoom";
import { CriteriaList } from "./CriteriaList";
import { topicRubricQuery } from "./rubrics";

/** The criteria by which the work on a topic is assessed, if the reader may see them. */
export function TopicCriteria({ topicId }: { topicId: string }) {
  const { t } = useTranslation();
  const topic = useQuery(topicDetailQuery(topicId)).data;
  const found = useQuery({ ...topicRubricQuery(topicId), enabled: topic?.hasRubric === true });
  if (!found.data) return null;
  return (
    <Disclosure name={t("rubrics.criteria")} count={found.data.criteria.length}>
      <CriteriaList criteria={found.data.criteria} />
    </Disclosure>
  );
}
