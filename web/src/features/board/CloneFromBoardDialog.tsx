import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { Checkbox } from "../../forms/Checkbox";
import { DateTimeField } from "../../forms/DateTimeField";
import { FormDialog } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { serverNow } from "../../hooks/serverClock";
import type { Board } from "./board";

const WEEK = 604_800_000;

/** Clones the topic with a new deadline and opens the clone, so that groups can be assigned to it. */
export function CloneFromBoardDialog({ board, onClose }: { board: Board; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { id, title, deadline: end } = board.assignment;
  const form = useForm({
    initial: (): { deadline: string | null; withFiles: boolean } => ({
      deadline: new Date(Math.max(Date.parse(end), serverNow()) + WEEK).toISOString(),
      withFiles: true,
    }),
    send: ({ deadline, withFiles }) =>
      unwrap(
        client.POST("/assignments/{id}/clone", {
          params: { path: { id } },
          body: { deadline: deadline ?? end, withFiles },
        }),
      ),
    refreshes: ["assignments"],
    onSent: (topic) => navigate({ to: "/topics/$topicId", params: { topicId: topic.id } }),
  });
  return (
    <FormDialog
      title={t("board.copyTitle", { title })}
      form={form}
      submitLabel={t("board.copyGo")}
      isIncomplete={form.values.deadline === null}
      onClose={onClose}
    >
      <p className="text-soft">{t("board.copyText")}</p>
      <DateTimeField label={t("board.copyEnd")} {...form.field("deadline")} />
      <Checkbox {...form.check("withFiles")}>{t("board.copyFiles")}</Checkbox>
    </FormDialog>
  );
}
