import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import { type Board, type BoardGroup } from "./board";
import { numberedName } from "../lesson/groupNames";

interface Move {
  from: string;
  to: string;
}

/** Moves a student to another group with one press; can be undone for eight seconds. */
export function MoveStudentDialog({
  board,
  from,
  userId,
  onClose,
}: {
  board: Board;
  from: BoardGroup;
  userId: string;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  // Read once: the event of the move may remove the student from the group before the response arrives.
  const [name] = useState(() => from.members.find((member) => member.user.id === userId)?.user.name ?? "");
  const refresh = () => invalidate(cache, "board", "groups", "courses", "room");
  const moveStudent = (step: Move) =>
    unwrap(
      client.POST("/groups/{id}/members/{userId}/move", {
        params: { path: { id: step.from, userId } },
        body: { toGroupId: step.to },
      }),
    );
  const undo = useMutation({
    mutationFn: moveStudent,
    onError: (problem) => toast(errorText(problem)),
    onSettled: refresh,
  });
  const move = useMutation({
    mutationFn: moveStudent,
    onSuccess: (moved, step) => {
      const kept = moved.keptSubmissions.length > 0 ? ` ${t("board.movedKept")}` : "";
      toast(t("board.moved", { name, to: numberedName(moved.to) }) + kept, () =>
        undo.mutate({ from: step.to, to: step.from }),
      );
      onClose();
    },
    onSettled: refresh,
  });
  const others = board.groups.filter((card) => card.group.id !== from.group.id);
  return (
    <Dialog title={t("board.moveTitle", { name })} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <p className="text-soft">{t("board.moveFrom", { from: numberedName(from.group) })}</p>
          <ul className="flex flex-col gap-2">
            {others.map((card) => (
              <li key={card.group.id}>
                <Button
                  className="w-full"
                  isPending={move.isPending}
                  onPress={() => move.mutate({ from: from.group.id, to: card.group.id })}
                >
                  <span className="grow truncate text-start">{numberedName(card.group)}</span>
                  <span className="text-soft shrink-0 text-sm font-normal">
                    {t("board.members", { count: card.members.length })}
                  </span>
                </Button>
              </li>
            ))}
          </ul>
          {others.length === 0 ? <p>{t("board.moveNowhere")}</p> : null}
          {move.isError ? <ErrorMessage problem={move.error} /> : null}
          <Button className="self-end" onPress={close}>
            {t("ask.cancel")}
          </Button>
        </>
      )}
    </Dialog>
  );
}
