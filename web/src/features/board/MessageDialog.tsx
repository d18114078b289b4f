import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useTranslation } from "react-i18next";

import { FormDialog } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { getDraft, saveDraft } from "../../forms/drafts";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { meQuery } from "../../auth/session";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { RadioGroup } from "../../forms/RadioGroup";
import { type Board, type BoardGroup, isDone } from "./board";
import { type FailedDelivery, remindGroups, sendToGroups } from "./sendToGroups";
import { numberedName } from "../lesson/groupNames";

interface Props {
  board: Board;
  to?: BoardGroup | undefined;
  onlyOpen: boolean;
  onClose: () => void;
}

/** Sends a message to the chat of one group, of all groups, or of those that have not submitted. */
export function MessageDialog({ board, to, onlyOpen, onClose }: Props) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const own = useQuery(meQuery).data?.id ?? "";
  const draftKey = `board:${to?.group.id ?? board.assignment.id}`;
  const open = board.groups.filter((card) => !isDone(card));
  // One client id for this message, so that a retry does not deliver it twice.
  const number = useRef(crypto.randomUUID());
  const delivered = useRef(new Set<string>());
  const updateText = (text: string) => {
    form.set({ text });
    saveDraft(own, draftKey, text);
  };
  const recipients = (audience: "all" | "open") => (to ? [to] : audience === "open" ? open : board.groups);
  const form = useForm({
    initial: () => ({
      text: getDraft(own, draftKey),
      audience: onlyOpen && open.length > 0 ? ("open" as const) : ("all" as "open" | "all"),
    }),
    send: async ({ text, audience }) => {
      if (to === undefined && audience === "open" && board.assignment.status === "ACTIVE") {
        return {
          failed: [] as FailedDelivery[],
          count: await remindGroups(board.assignment.id, text.trim(), number.current),
        };
      }
      const chosen = recipients(audience);
      const undelivered = chosen.filter((card) => !delivered.current.has(card.group.id));
      const failed = await sendToGroups(undelivered, text.trim(), number.current);
      for (const card of chosen) if (!failed.some((one) => one.card === card)) delivered.current.add(card.group.id);
      return { failed, count: chosen.length };
    },
    onSent: ({ failed, count }) => {
      if (failed.length > 0) return;
      updateText("");
      toast(to ? t("board.sentTo", { name: numberedName(to.group) }) : t("board.sent", { count }));
      onClose();
    },
    onSettled: () => invalidate(cache, "chat"),
  });
  const failed = form.result?.failed ?? [];
  return (
    <FormDialog
      title={to ? t("board.messageTo", { name: numberedName(to.group) }) : t("board.messageAll")}
      form={form}
      submitLabel={failed.length > 0 ? t("board.sendAgain", { count: failed.length }) : t("board.send")}
      isIncomplete={form.values.text.trim() === ""}
      onClose={onClose}
    >
      {to || open.length === 0 || open.length === board.groups.length ? null : (
        <RadioGroup
          label={t("board.messageFor")}
          options={[
            { id: "all", name: t("board.audienceAll", { count: board.groups.length }) },
            { id: "open", name: t("board.audienceOpen", { count: open.length }) },
          ]}
          {...form.field("audience")}
        />
      )}
      <TextArea
        autoFocus
        label={t("board.messageWords")}
        hint={t("board.messageHint")}
        maxLength={4000}
        rows={3}
        {...form.field("text")}
        onChange={updateText}
      />
      <p className="flex flex-wrap gap-2">
        {(["look", "submit", "save"] as const).map((phrase) => (
          <Button key={phrase} className="text-sm font-normal" onPress={() => updateText(t(`board.phrase.${phrase}`))}>
            {t(`board.phrase.${phrase}`)}
          </Button>
        ))}
      </p>
      {failed.length === 0 ? null : (
        <p role="alert" className="text-bad">
          {t("board.notSent", { names: failed.map((one) => numberedName(one.card.group)).join(", ") })}{" "}
          {errorText(failed[0]?.problem)}
        </p>
      )}
    </FormDialog>
  );
}
