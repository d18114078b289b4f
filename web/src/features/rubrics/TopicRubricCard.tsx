import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { invalidate } from "../../api/queryKeys";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { Disclosure } from "../../components/Disclosure";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Checkbox } from "../../forms/Checkbox";
import { useErrorText } from "../../i18n/useErrorText";
import { CriteriaList } from "./CriteriaList";
import { RubricsDialog } from "./RubricsDialog";
import { topicRubricQuery } from "./rubrics";

/** The rubric of a topic, for its teachers: choose, replace, show it to students beforehand, or remove it. */
export function TopicRubricCard({ topicId }: { topicId: string }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const found = useQuery(topicRubricQuery(topicId));
  const [isChoosing, setChoosing] = useState(false);
  const params = { path: { id: topicId } };
  const onSettled = () => invalidate(cache, "assignments");
  const set = useMutation({
    mutationFn: (body: Schemas["TopicRubricChoice"]) =>
      unwrap(client.PUT("/assignments/{id}/rubric", { params, body })),
    onSuccess: () => setChoosing(false),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/assignments/{id}/rubric", { params: { ...params, query: {} } })),
    onSuccess: () => void toast(t("rubrics.removed")),
    onError: (problem) => void toast(errorText(problem)),
    onSettled,
  });
  const rubric = found.data;
  return (
    <section aria-labelledby="rubric">
      <Card className="flex flex-col gap-2">
        <h2 id="rubric">{t("rubrics.title")}</h2>
        {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
        {rubric === null ? <p className="text-soft">{t("rubrics.topicNone")}</p> : null}
        {rubric ? (
          <>
            <Disclosure name={rubric.title} count={rubric.criteria.length}>
              <CriteriaList criteria={rubric.criteria} />
            </Disclosure>
            <Checkbox
              isSelected={rubric.isShown}
              isDisabled={set.isPending}
              onChange={(isShown) => set.mutate({ isShown })}
            >
              {t("rubrics.show")}
            </Checkbox>
            {rubric.isUsed === true ? <p className="text-soft text-sm">{t("rubrics.used")}</p> : null}
          </>
        ) : null}
        {set.isError && !isChoosing ? <ErrorMessage problem={set.error} /> : null}
        {found.isSuccess && rubric?.isUsed !== true ? (
          <p className="flex flex-wrap gap-2">
            <Button
              aria-haspopup="dialog"
              onPress={() => {
                set.reset();
                setChoosing(true);
              }}
            >
              {t(rubric ? "rubrics.replace" : "rubrics.open")}
            </Button>
            {rubric ? (
              <Button kind="quiet" isPending={remove.isPending} onPress={() => remove.mutate()}>
                {t("rubrics.remove")}
              </Button>
            ) : null}
          </p>
        ) : null}
      </Card>
      {isChoosing ? (
        <RubricsDialog
          onChoose={(rubricId) => set.mutate({ rubricId })}
          isPending={set.isPending}
          problem={set.error}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </section>
  );
}
