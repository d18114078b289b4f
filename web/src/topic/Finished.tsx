import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { useTime } from "../lib/time";
import { Bar } from "../ui/Bar";
import { Button } from "../ui/Button";
import { Problems } from "../ui/Problems";
import { Sheet } from "../ui/Sheet";
import { When } from "../ui/When";
import { Written } from "../ui/Written";
import { Files } from "./Files";
import type { Topic } from "./form";
import { Groups } from "./Groups";
import { groupName, refresh } from "./topic";

/** A finished topic: to be read until it is reopened. */
export function Finished({ of }: { of: Topic }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const cache = useQueryClient();
  const reopen = useMutation({ mutationFn: () => data(client.POST("/assignments/{id}/reopen", { params: { path: { id: of.id } } })), onSettled: () => refresh(cache) });
  const own = of.isShared ? [] : of.groupAssignments.filter((one) => one.descriptionOverride);
  return (
    <>
      <Bar
        action={
          <Button isPending={reopen.isPending} onPress={() => reopen.mutate()}>
            {t("board.reopen")}
          </Button>
        }
      >
        {of.finishedAt === null ? t("state.FINISHED") : t("topic.finishedAt", { when: moment(of.finishedAt) })} {t("topic.finished")}
      </Bar>
      {reopen.isError ? <Problems problem={reopen.error} /> : null}
      <Sheet className="flex flex-col gap-3">
        <h2>{t("topic.text")}</h2>
        <p className="text-soft">
          {t("topic.deadline")}: <When at={of.deadline} />
        </p>
        {of.description.trim() === "" ? <p className="text-soft">{t("topic.noText")}</p> : <Written>{of.description}</Written>}
        {own.map((one) => (
          <div key={one.id} className="border-faint flex flex-col gap-1 border-t pt-3">
            <h3 className="font-semibold">{groupName(one.group)}</h3>
            <Written>{one.effectiveDescription}</Written>
          </div>
        ))}
      </Sheet>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Files of={of} isLocked />
        <Groups of={of} isLocked />
      </div>
    </>
  );
}
