import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { useTime } from "../../i18n/time";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { RadioGroup } from "../../forms/RadioGroup";
import { Dialog } from "../../components/Dialog";
import { type Board, extendedDeadline } from "./board";

const STEPS = ["5", "10", "15"] as const;
type DeadlineStep = (typeof STEPS)[number];

/** Extends the deadline of the topic: previews the number of affected groups first; can be undone. */
export function ExtendDeadlineDialog({ board, onClose }: { board: Board; onClose: () => void }) {
  const { t } = useTranslation();
  const { moment } = useTime();
  const cache = useQueryClient();
  const { id, deadline } = board.assignment;
  const [step, setStep] = useState<DeadlineStep>("5");
  const [customDeadline, setCustomDeadline] = useState(false);
  const [opened] = useState(serverNow);
  const next = extendedDeadline(deadline, opened, Number(step));
  const path = { id };
  const preview = useQuery({
    queryKey: queryKeys.assignments.deadlinePreview(id, next),
    queryFn: async () => {
      const previewed = await unwrap(
        client.PATCH("/assignments/{id}/bulk", { params: { path, query: { dryRun: "1" } }, body: { deadline: next } }),
      );
      return "count" in previewed ? previewed.count : 0;
    },
  });
  const refresh = () =>
    Promise.all([cache.invalidateQueries({ queryKey: queryKeys.board.one(id) }), invalidate(cache, "assignments")]);
  const setDeadline = (to: string) =>
    unwrap(
      client.PATCH("/assignments/{id}/bulk", {
        params: { path, query: customDeadline ? { recomputeLate: "1" } : {} },
        body: { deadline: to },
      }),
    );
  const undo = useMutation({ mutationFn: setDeadline, onSettled: refresh });
  // The event of the change may renew the board before the response arrives, so the deadlines are those of the press.
  const extend = useMutation({
    mutationFn: ({ to }: { from: string; to: string }) => setDeadline(to),
    onSuccess: (_, { from, to }) => {
      toast(t("board.moreDone", { when: moment(to) }), () => undo.mutate(from));
      onClose();
    },
    onSettled: refresh,
  });
  const isSomeLate = board.groups.some((card) => card.groupAssignment.currentSubmission?.isLate);
  return (
    <Dialog title={t("board.moreTitle")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <RadioGroup
            label={t("board.moreBy")}
            value={step}
            onChange={setStep}
            options={STEPS.map((one) => ({ id: one, name: t("board.minutes", { count: Number(one) }) }))}
          />
          <p aria-live="polite">
            {t("board.moreEnd", { next: moment(next), before: moment(deadline) })}{" "}
            {preview.data === undefined ? null : t("board.moreFor", { count: preview.data })}
          </p>
          {isSomeLate ? (
            <Checkbox isSelected={customDeadline} onChange={setCustomDeadline}>
              {t("board.moreAnew")}
            </Checkbox>
          ) : null}
          {extend.isError || preview.isError ? <ErrorMessage problem={extend.error ?? preview.error} /> : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button
              kind="main"
              isPending={extend.isPending}
              onPress={() => extend.mutate({ from: deadline, to: next })}
            >
              {t("board.moreGive", { count: Number(step) })}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
