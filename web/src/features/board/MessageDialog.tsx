import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { getDraft, saveDraft } from "../../forms/drafts";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { meQuery } from "../../auth/session";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { RadioGroup } from "../../forms/RadioGroup";
import { Dialog } from "../../components/Dialog";
import { type Board, type BoardGroup, isDone } from "./board";
import { sendToGroups } from "./sendToGroups";
import { numberedName } from "../lesson/groupNames";

/** Sends a message to the chat of one group, of all groups, or of those that have not submitted. */
export function MessageDialog({
  board,
  to,
  onlyOpen,
  onClose,
}: {
  board: Board;
  to?: BoardGroup | undefined;
  onlyOpen: boolean;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const own = useQuery(meQuery).data?.id ?? "";
  const about = `board:${to?.group.id ?? board.assignment.id}`;
  const [text, setText] = useState(() => getDraft(own, about));
  const open = board.groups.filter((card) => !isDone(card));
  const [audience, setAudience] = useState<"all" | "open">(onlyOpen && open.length > 0 ? "open" : "all");
  // One client id for this message, so that a retry does not deliver it twice.
  const number = useRef(crypto.randomUUID());
  const delivered = useRef(new Set<string>());
  const updateText = (next: string) => {
    setText(next);
    saveDraft(own, about, next);
  };
  const chosen = to ? [to] : audience === "open" ? open : board.groups;
  const send = useMutation({
    mutationFn: () =>
      sendToGroups(
        chosen.filter((card) => !delivered.current.has(card.group.id)),
        text.trim(),
        number.current,
      ),
    onSuccess: (failed) => {
      for (const card of chosen) if (!failed.some((one) => one.card === card)) delivered.current.add(card.group.id);
      if (failed.length > 0) return;
      updateText("");
      toast(to ? t("board.sentTo", { name: numberedName(to.group) }) : t("board.sent", { count: chosen.length }));
      onClose();
    },
    onSettled: () => invalidate(cache, "chat"),
  });
  const failed = send.data ?? [];
  return (
    <Dialog
      title={to ? t("board.messageTo", { name: numberedName(to.group) }) : t("board.messageAll")}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== "" && !send.isPending) send.mutate();
          }}
        >
          {to || open.length === 0 || open.length === board.groups.length ? null : (
            <RadioGroup
              label={t("board.messageFor")}
              value={audience}
              onChange={setAudience}
              options={[
                { id: "all", name: t("board.audienceAll", { count: board.groups.length }) },
                { id: "open", name: t("board.audienceOpen", { count: open.length }) },
              ]}
            />
          )}
          <TextArea
            autoFocus
            label={t("board.messageWords")}
            hint={t("board.messageHint")}
            value={text}
            onChange={updateText}
            maxLength={4000}
            rows={3}
          />
          <p className="flex flex-wrap gap-2">
            {(["look", "submit", "save"] as const).map((phrase) => (
              <Button
                key={phrase}
                className="text-sm font-normal"
                onPress={() => updateText(t(`board.phrase.${phrase}`))}
              >
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
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button kind="main" type="submit" isDisabled={text.trim() === ""} isPending={send.isPending}>
              {failed.length > 0 ? t("board.sendAgain", { count: failed.length }) : t("board.send")}
            </Button>
          </p>
        </form>
      )}
    </Dialog>
  );
}
