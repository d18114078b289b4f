import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { fieldError } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { DateTimeField } from "../../forms/DateTimeField";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import type { Board } from "./board";

const WEEK = 604_800_000;

/** Clones the topic with a new deadline and opens the clone, so that groups can be assigned to it. */
export function CloneFromBoardDialog({ board, onClose }: { board: Board; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [end, setEnd] = useState<string | null>(() =>
    new Date(Math.max(Date.parse(board.assignment.deadline), serverNow()) + WEEK).toISOString(),
  );
  const [withFiles, setWithFiles] = useState(true);
  const clone = useMutation({
    mutationFn: (deadline: string) =>
      unwrap(
        client.POST("/assignments/{id}/clone", {
          params: { path: { id: board.assignment.id } },
          body: { deadline, withFiles },
        }),
      ),
    onSuccess: async (topic) => {
      await invalidate(cache, "assignments");
      await navigate({ to: "/t/$topicId", params: { topicId: topic.id } });
    },
  });
  return (
    <Dialog
      title={t("board.copyTitle", { title: board.assignment.title })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          <p className="text-soft">{t("board.copyText")}</p>
          <DateTimeField
            label={t("board.copyEnd")}
            value={end}
            onChange={setEnd}
            problem={fieldError(clone.error, "deadline")}
          />
          <Checkbox isSelected={withFiles} onChange={setWithFiles}>
            {t("board.copyFiles")}
          </Checkbox>
          {clone.isError ? <ErrorMessage problem={clone.error} /> : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button
              kind="main"
              isDisabled={end === null}
              isPending={clone.isPending}
              onPress={() => end && clone.mutate(end)}
            >
              {t("board.copyGo")}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
