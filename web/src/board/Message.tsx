import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { draft, keepDraft } from "../lib/drafts";
import { useSay } from "../lib/problems";
import { invalidate } from "../lib/queryKeys";
import { me } from "../lib/session";
import { Area } from "../ui/Area";
import { Button } from "../ui/Button";
import { note } from "../ui/notes";
import { Radios } from "../ui/Radios";
import { Window } from "../ui/Window";
import { type Board, type BoardGroup, called, isDone } from "./board";
import { sendTo } from "./send";

/** A message into the chat of one group, of all, or of those who have not submitted; it stands where the group works. */
export function Message({ found, to, onlyOpen, onClose }: { found: Board; to?: BoardGroup | undefined; onlyOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const own = useQuery(me).data?.id ?? "";
  const about = `board:${to?.group.id ?? found.assignment.id}`;
  const [words, setWords] = useState(() => draft(own, about));
  const open = found.groups.filter((card) => !isDone(card));
  const [audience, setAudience] = useState<"all" | "open">(onlyOpen && open.length > 0 ? "open" : "all");
  // One number for this message: whoever got it already does not get it twice.
  const number = useRef(crypto.randomUUID());
  const reached = useRef(new Set<string>());
  const keep = (text: string) => {
    setWords(text);
    keepDraft(own, about, text);
  };
  const chosen = to ? [to] : audience === "open" ? open : found.groups;
  const send = useMutation({
    mutationFn: () => sendTo(chosen.filter((card) => !reached.current.has(card.group.id)), words.trim(), number.current),
    onSuccess: (failed) => {
      for (const card of chosen) if (!failed.some((one) => one.card === card)) reached.current.add(card.group.id);
      if (failed.length > 0) return;
      keep("");
      note(to ? t("board.sentTo", { name: called(to.group) }) : t("board.sent", { count: chosen.length }));
      onClose();
    },
    onSettled: () => invalidate(cache, "chat"),
  });
  const failed = send.data ?? [];
  return (
    <Window title={to ? t("board.messageTo", { name: called(to.group) }) : t("board.messageAll")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (words.trim() !== "" && !send.isPending) send.mutate();
          }}
        >
          {to || open.length === 0 || open.length === found.groups.length ? null : (
            <Radios
              label={t("board.messageFor")}
              value={audience}
              onChange={setAudience}
              options={[
                { id: "all", name: t("board.audienceAll", { count: found.groups.length }) },
                { id: "open", name: t("board.audienceOpen", { count: open.length }) },
              ]}
            />
          )}
          {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- the window was opened to write */}
          <Area autoFocus label={t("board.messageWords")} hint={t("board.messageHint")} value={words} onChange={keep} maxLength={4000} rows={3} />
          <p className="flex flex-wrap gap-2">
            {(["look", "submit", "save"] as const).map((phrase) => (
              <Button key={phrase} className="text-sm font-normal" onPress={() => keep(t(`board.phrase.${phrase}`))}>
                {t(`board.phrase.${phrase}`)}
              </Button>
            ))}
          </p>
          {failed.length === 0 ? null : (
            <p role="alert" className="text-bad">
              {t("board.notSent", { names: failed.map((one) => called(one.card.group)).join(", ") })} {say(failed[0]?.problem)}
            </p>
          )}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button kind="main" type="submit" isDisabled={words.trim() === ""} isPending={send.isPending}>
              {failed.length > 0 ? t("board.sendAgain", { count: failed.length }) : t("board.send")}
            </Button>
          </p>
        </form>
      )}
    </Window>
  );
}
