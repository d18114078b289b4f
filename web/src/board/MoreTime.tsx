import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { now } from "../lib/clock";
import { invalidate, queryKeys } from "../lib/queryKeys";
import { useTime } from "../lib/time";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { note } from "../ui/notes";
import { Problems } from "../ui/Problems";
import { Radios } from "../ui/Radios";
import { Window } from "../ui/Window";
import { type Board, later } from "./board";

const STEPS = ["5", "10", "15"] as const;
type Step = (typeof STEPS)[number];

/** More time for the whole topic: says first for how many groups, and can be undone. */
export function MoreTime({ found, onClose }: { found: Board; onClose: () => void }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const cache = useQueryClient();
  const { id, deadline } = found.assignment;
  const [step, setStep] = useState<Step>("5");
  const [anew, setAnew] = useState(false);
  const [opened] = useState(now);
  const next = later(deadline, opened, Number(step));
  const path = { id };
  const preview = useQuery({
    queryKey: queryKeys.assignments.deadlinePreview(id, next),
    queryFn: async () => {
      const told = await data(client.PATCH("/assignments/{id}/bulk", { params: { path, query: { dryRun: "1" } }, body: { deadline: next } }));
      return "count" in told ? told.count : 0;
    },
  });
  const settle = () => Promise.all([cache.invalidateQueries({ queryKey: queryKeys.board.one(id) }), invalidate(cache, "assignments")]);
  const put = (to: string) => data(client.PATCH("/assignments/{id}/bulk", { params: { path, query: anew ? { recomputeLate: "1" } : {} }, body: { deadline: to } }));
  const back = useMutation({ mutationFn: () => put(deadline), onSettled: settle });
  const give = useMutation({
    mutationFn: () => put(next),
    onSuccess: () => {
      note(t("board.moreDone", { when: moment(next) }), () => back.mutate());
      onClose();
    },
    onSettled: settle,
  });
  const isSomeLate = found.groups.some((card) => card.groupAssignment.currentSubmission?.isLate);
  return (
    <Window title={t("board.moreTitle")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <Radios label={t("board.moreBy")} value={step} onChange={setStep} options={STEPS.map((one) => ({ id: one, name: t("board.minutes", { count: Number(one) }) }))} />
          <p aria-live="polite">
            {t("board.moreEnd", { next: moment(next), before: moment(deadline) })}{" "}
            {preview.data === undefined ? null : t("board.moreFor", { count: preview.data })}
          </p>
          {isSomeLate ? (
            <Check isSelected={anew} onChange={setAnew}>
              {t("board.moreAnew")}
            </Check>
          ) : null}
          {give.isError || preview.isError ? <Problems problem={give.error ?? preview.error} /> : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button kind="main" isPending={give.isPending} onPress={() => give.mutate()}>
              {t("board.moreGive", { count: Number(step) })}
            </Button>
          </p>
        </>
      )}
    </Window>
  );
}
